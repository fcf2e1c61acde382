#pragma once
// The two tables of models of words and their neighbors.

#include <cmath>
#include <optional>

#include "framework/component/build_context.hpp"
#include "framework/registry/slot.hpp"
#include "framework/spec/fields.hpp"

namespace jari {

struct WordTablesInit {
  std::optional<Slot<Init>> embedding, output;
  template <class F>
  void fields(F& f) {
    f("embedding", embedding, "of the words that are given; by default N(0, 1)");
    f("output", output, "of the words that are asked for; by default N(0, 1)");
  }
};

struct WordTablesParameters {
  std::int64_t width = 100;
  WordTablesInit init;
  template <class F>
  void fields(F& f) {
    f("width", width, "numbers a word", at_least(1));
    f("init", init, "first values of the tables");
  }
};

class WordTables {
 public:
  explicit WordTables(const WordTablesParameters& parameters) : parameters_(parameters) {}
  Value embedding(const BuildContext& context) const { return table(context, "embedding", parameters_.init.embedding); }
  Value output(const BuildContext& context) const { return table(context, "output", parameters_.init.output); }

 private:
  Value table(const BuildContext& context, const char* name, const std::optional<Slot<Init>>& init) const {
    return context.parameter(name, {context.vocabulary, parameters_.width}, init ? init->shared() : normal(1),
                             {"token", "width"});
  }

  WordTablesParameters parameters_;
};

}  // namespace jari
