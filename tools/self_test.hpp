#pragma once
// Whether training works on this machine at all: a probe so small that it takes a moment, trained in a temporary
// folder.

#include <filesystem>
#include <string>

namespace jari {

struct SelfTest {
  bool passed = false;
  std::string text;  // what was found, or how it failed
};

// Trains a few steps twice, on one thread and on all cores: results must be equal to the last bit, and the loss finite.
SelfTest test_training(const std::filesystem::path& scratch);

// Compares the gradient of the loss by every parameter with finite differences, in f64.
SelfTest test_gradient();

}  // namespace jari
