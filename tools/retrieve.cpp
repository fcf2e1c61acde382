// jari retrieve TABLE DOCUMENTS QUESTION: the documents whose mean word vector is nearest to the question's.

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/table/retrieval.hpp"
#include "tools/commands.hpp"
#include "tools/table_arguments.hpp"

namespace jari {
namespace {

class RetrieveCommand final : public Command {
 public:
  const char* name() const override { return "retrieve"; }
  const char* summary() const override { return "search documents by the mean of their word vectors"; }
  void options(CommandOptions& options) override {
    table_.options(options);
    options.argument("documents", documents_, "a document a line: title, a tab, the text");
    options.arguments("question", question_, "what is looked for");
    options.option("--count", count_, "documents to show");
    ResultTable::option(options, format_);
  }
  int run() override;

 private:
  TableArguments table_;
  std::string documents_, format_ = "text";
  std::vector<std::string> question_;
  std::int64_t count_ = 5;
};

int RetrieveCommand::run() {
  require_positive("--count", count_);
  const WordTable table = table_.open();
  const std::string text = joined(question_, " ");
  const MeanVector question = mean_vector(table, words_of_text(text));
  if (question.rows.empty()) throw Error(fmt::format("no word of the question '{}' is in the table", text));
  if (!question.unknown.empty()) fmt::print(stderr, "not in the table: {}\n", joined(question.unknown));
  const std::vector<Document> documents = read_documents(documents_);
  std::vector<MeanVector> means;
  for (const Document& document : documents) means.push_back(mean_vector(table, words_of_text(document.text)));
  ResultTable result({"rank", "document", "cosine", "known", "unknown"});
  const std::vector<Hit> hits = retrieve(question, means);
  for (std::size_t i = 0; i < std::min(hits.size(), static_cast<std::size_t>(count_)); ++i) {
    const MeanVector& mean = means[hits[i].document];
    result.add_row({static_cast<std::int64_t>(i + 1), documents[hits[i].document].title, hits[i].cosine,
                    static_cast<std::int64_t>(mean.rows.size()), static_cast<std::int64_t>(mean.unknown.size())});
  }
  result.print(format_);
  return 0;
}

}  // namespace

CommandPtr retrieve_command() { return std::make_unique<RetrieveCommand>(); }

}  // namespace jari
