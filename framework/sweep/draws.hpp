#pragma once
// `random` and `sobol`: points of a space of hyperparameters. A point depends on the seed, its number and the space
// alone, so more points keep the first ones, and no trial depends on how many cores or in which order trials run.
//
// Both start from 64 bits a coordinate, of which the upper 52 give a number inside of (0, 1):
//
//   number(bits) = (floor(bits / 2^12) + 1/2) / 2^52
//
// random: the n-th output of a Mersenne twister (mt19937_64; Matsumoto & Nishimura 1998, 2000) that is seeded with the
//     XXH3-64 hash of "<seed>/<path>". Each key has its own, so a key that joins the space leaves the others' numbers.
// sobol: the n-th point of Sobol's sequence (1967; direction numbers of Joe & Kuo 2008, new-joe-kuo-6), the all-zero
//     point included (dropping it makes things worse: Owen 2020, "On dropping the first Sobol' point"), with a digital
//     shift: each coordinate is XORed with the first output of the twister of its key. The shift keeps the evenness:
//     any 2^m points from 0 on have as many points in each of 2^m equal intervals of each key.

#include <cstdint>
#include <string>
#include <vector>

#include "framework/sweep/axis.hpp"
#include "framework/train/sweep_spec.hpp"

namespace jari {

// [points][dimensions], unshifted, from the all-zero point on.
std::vector<std::vector<std::uint64_t>> sobol_bits(std::size_t points, std::size_t dimensions);

// [points][paths], shifted by `seed`.
std::vector<std::vector<std::uint64_t>> shifted_sobol_bits(std::size_t points, const std::vector<std::string>& paths,
                                                           std::int64_t seed);
std::vector<std::vector<std::uint64_t>> random_bits(std::size_t points, const std::vector<std::string>& paths,
                                                    std::int64_t seed);

double unit_number(std::uint64_t bits);

enum class DrawMethod { random, sobol };

// One axis, a choice a point. `node`: the block as it is written. Numbers are rounded to five significant digits, so
// that a trial's label tells its very value.
std::vector<Axis> read_draws(const DrawsSpec& spec, const SpecNode& node, DrawMethod method, Diagnostics& diagnostics);

}  // namespace jari
