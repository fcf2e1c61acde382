// Search by meaning at its plainest: the mean of a query's word vectors against the mean of each document's.
// Confuses the meanings of one word, as a word has one vector whatever stands around it.
// Texts are cut by the tokenizer of the spec's `data`; for an imported table at white space, without punctuation.
//
// Arrays: `query` [queries], `document` and `cosine` [queries, documents], best first; `known` [documents]: how
// many of a document's words the vocabulary has.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct RetrievalParameters {
  SpecMap<std::string> documents;
  std::vector<std::string> queries;
  std::string tensor = "embedding";
  template <class F>
  void fields(F& f) {
    f("documents", documents, "what is searched: texts by their titles", required);
    f("queries", queries, "what is looked for", required);
    f("tensor", tensor, "the table: a weight of the model with a row a word");
  }
  void check(FieldChecks& checks) const {
    if (documents.empty()) checks.error("documents", "there is nothing to search", "give a document or more");
    if (queries.empty()) checks.error("queries", "nothing is looked for", "give a query or more");
  }
};

class Retrieval final : public Analysis {
 public:
  explicit Retrieval(const RetrievalParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    const AnalyzedTable analyzed = analyzed_table(context, parameters_.tensor);
    if (!analyzed.table) return skipped_analysis(analyzed.skipped);
    const WordTable& table = *analyzed.table;
    const auto words_of = [&](const std::string& text) {
      return context.pieces && !context.table ? context.pieces(text) : words_of_text(text);
    };
    std::vector<MeanVector> means;
    std::vector<double> known, cosines;
    for (const auto& [title, text] : parameters_.documents) {
      means.push_back(mean_vector(table, words_of(text)));
      known.push_back(static_cast<double>(means.back().rows.size()));
    }
    std::vector<std::string> found;
    for (const std::string& query : parameters_.queries) {
      for (const Hit& hit : retrieve(mean_vector(table, words_of(query)), means)) {
        found.push_back(parameters_.documents[hit.document].first);
        cosines.push_back(hit.cosine);
      }
    }
    const auto queries = static_cast<std::int64_t>(parameters_.queries.size());
    const auto documents = static_cast<std::int64_t>(means.size());
    AnalysisResult result;
    result.arrays.push_back(text_array("query", {queries}, parameters_.queries, {"query"}));
    result.arrays.push_back(text_array("document", {queries, documents}, std::move(found), {"query", "rank"}));
    result.arrays.push_back({"cosine", {queries, documents}, std::move(cosines), {"query", "rank"}});
    result.arrays.push_back({"known", {documents}, std::move(known), {"document"}});
    return result;
  }

 private:
  RetrievalParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::Retrieval, jari::RetrievalParameters>(
      "retrieval", "search of documents by the mean of their word vectors");
}
