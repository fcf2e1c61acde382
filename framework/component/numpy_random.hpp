#pragma once
// The numbers of NumPy's `default_rng(seed)`, bit for bit: SeedSequence (O'Neill's seed_seq alternative), PCG64 XSL-RR
// 128/64 (O'Neill 2014, "PCG: a family of simple fast space-efficient statistically good algorithms for random number
// generation") and the 256-step ziggurat (Marsaglia, Tsang 2000; Doornik 2005) of `standard_normal`.
//
// For first values that must equal those of a NumPy program. Everything else in jari draws from Philox.

#include <cstdint>

namespace jari {

class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint64_t seed);

  std::uint64_t next();      // as `bit_generator.random_raw`
  double uniform();          // [0, 1), as `random`
  double standard_normal();  // as `standard_normal`

 private:
  __extension__ typedef unsigned __int128 Word128;

  double normal_tail(bool negative);
  void advance();

  Word128 state_ = 0, increment_ = 0;
};

}  // namespace jari
