#include "framework/base/version.hpp"

namespace jari {

const char* version() { return JARI_VERSION; }

}  // namespace jari
