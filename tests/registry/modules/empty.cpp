// A shared object that is no module of jari.
extern "C" int jari_test_nothing() { return 0; }
