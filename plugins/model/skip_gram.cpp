// Skip-gram (Mikolov, Chen, Corrado, Dean 2013): a word's vector scores its neighbors. Two tables: `embedding` of words
// that are given, `output` of words that are asked for.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

class SkipGram final : public WordModel {
 public:
  explicit SkipGram(const WordTablesParameters& parameters) : tables_(parameters) {}

  bool predicts_center() const override { return false; }
  Value hidden(const BuildContext& context, Value given) const override {
    const Value rows = gather(tables_.embedding(context), given);  // [batch, 1, width]
    return reshape(rows, {rows.shape()[0], rows.shape()[2]});
  }
  Value output_table(const BuildContext& context) const override { return tables_.output(context); }

 private:
  WordTables tables_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Model, jari::SkipGram, jari::WordTablesParameters>("skip_gram",
                                                                        "a word's vector predicts its neighbors");
}
