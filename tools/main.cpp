#include "tools/commands.hpp"

int main(int argc, char** argv) { return jari::run_program(argc, argv); }
