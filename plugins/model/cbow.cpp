// Continuous bag of words (Mikolov, Chen, Corrado, Dean 2013): the mean of the neighbors' vectors scores the word
// between them.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

class Cbow final : public WordModel {
 public:
  explicit Cbow(const WordTablesParameters& parameters) : tables_(parameters) {}

  bool predicts_center() const override { return true; }
  Value hidden(const BuildContext& context, Value given) const override {
    Graph& graph = context.graph;
    const Value rows = gather(tables_.embedding(context), given);  // [batch, count, width], zeros for none
    const Value there = cast(logical_not(less(given, graph.constant_i32({}, {0}))), graph.real());
    const Value count = maximum(reduce_sum(there, {1}, /*keep=*/true), graph.constant(1.0));
    return reduce_sum(rows, {1}) / count;
  }
  Value output_table(const BuildContext& context) const override { return tables_.output(context); }

 private:
  WordTables tables_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Model, jari::Cbow, jari::WordTablesParameters>("cbow",
                                                                    "the mean of the neighbors predicts the word");
}
