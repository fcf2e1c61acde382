#pragma once
// simt::Stream of the emulation: the counterpart of framework/backend/cuda/simt/jari_stream.hpp.

#include "tests/cuda/emulation/emulation.hpp"
