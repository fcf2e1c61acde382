#pragma once
// How a parameter struct describes itself, once:
//
//   struct AlibiParameters {
//     PerTrial<double> slope_scale = 1.0;
//     Sides sides = Sides::both;
//     template <class F> void fields(F& f) {
//       f("slope_scale", slope_scale, "multiplies the slope of every head", more_than(0));
//       f("sides", sides, "which distances are penalised");
//     }
//   };
//
// Binding, unknown-key errors, ranges, defaults, `jari components`, the JSON Schema, the reference pages, hashing and
// fusing all come from that list. A member's initial value is its default; `required` says that it has none.
// Members may be bool, int, std::int64_t, double, std::string, an enum with `enum_names`, PerTrial<T> of a number,
// Slot<Family>, another struct with `fields`, and std::optional, std::vector and SpecMap (ordered, string keys) of
// them. A struct may also have `void check(FieldChecks& checks) const` for rules between members.

#include <string>
#include <utility>
#include <vector>

namespace jari {

// -- traits of a field, after its doc line
struct Required {};
inline constexpr Required required{};

inline constexpr double kUnbounded = 1e308;  // of a range that has no upper end

struct Range {
  double low, high;
  bool open_low = false, open_high = false;
};
inline Range at_least(double low) { return {low, kUnbounded, false, false}; }
inline Range more_than(double low) { return {low, kUnbounded, true, false}; }
inline Range between(double low, double high) { return {low, high, false, false}; }
inline Range between_open(double low, double high) { return {low, high, true, true}; }
inline Range from_below(double low, double high) { return {low, high, false, true}; }  // [low, high)

struct Unit {
  const char* name;  // "steps", "bytes"
};
inline Unit unit(const char* name) { return {name}; }

// Does not change what is computed, only what is written: not part of a trial's identity.
struct OutputSetting {};
inline constexpr OutputSetting output_setting{};

// -- enums: `inline const auto& enum_names(Sides) { static const EnumNames<Sides> names{{Sides::both, "both"}, ...};
// return names; }`
template <class Enum>
using EnumNames = std::vector<std::pair<Enum, const char*>>;

// Keys in the order of the file.
template <class T>
using SpecMap = std::vector<std::pair<std::string, T>>;

// What `check` is given: an error about one member (or "" for the whole block).
class FieldChecks {
 public:
  virtual ~FieldChecks() = default;
  virtual void error(const std::string& field, const std::string& message, const std::string& hint = "") = 0;
};

}  // namespace jari
