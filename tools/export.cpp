// jari export TABLE --to FORMAT: a run's table, or another program's, for other programs.

#include <fmt/format.h>

#include <filesystem>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/table/table_file.hpp"
#include "tools/commands.hpp"
#include "tools/table_arguments.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

class ExportCommand final : public Command {
 public:
  const char* name() const override { return "export"; }
  const char* summary() const override { return "write a table of a run or a file for other programs"; }
  void options(CommandOptions& options) override {
    table_.options(options);
    options.choice("--to", to_, table_format_names(), "the format");
    options.option("-o,--output", output_, "the file; gzip if it ends in .gz. By default the table's name, here");
    options.option("--as", name_, "the tensor's name in a safetensors file");
  }
  int run() override;

 private:
  fs::path output(TableFormat format) const;

  TableArguments table_;
  std::string to_, output_, name_ = "embedding";
};

fs::path ExportCommand::output(TableFormat format) const {
  if (!output_.empty()) return output_;
  const bool is_text = format == TableFormat::word2vec_text || format == TableFormat::glove;
  const std::string end = format == TableFormat::word2vec ? ".bin" : is_text ? ".txt" : "." + to_;
  fs::path from = fs::weakly_canonical(table_.path);
  if (from.filename() == "run.h5") from = from.parent_path();
  const fs::path bare = fs::is_directory(from)      ? from.filename()
                        : from.extension() == ".gz" ? from.stem().stem()
                                                    : from.stem();
  return bare.string() + end;
}

int ExportCommand::run() {
  const std::optional<TableFormat> format = table_format_named(to_);
  if (!format) throw SpecError(fmt::format("error: name the format with --to: {}\n", joined(table_format_names())));
  const fs::path path = output(*format);
  if (fs::exists(path) && fs::exists(table_.path) && fs::equivalent(path, table_.path))
    throw SpecError(fmt::format("error: {} is the table itself; name another file with -o\n", path.string()));
  const WordTable table = table_.open();
  write_table(path, table, *format, name_);
  fmt::print("{}: {} rows of {} numbers\n", path.string(), table.size(), table.width());
  const bool has_words_beside =
      *format == TableFormat::npy || *format == TableFormat::safetensors || *format == TableFormat::tsv;
  if (has_words_beside && table.has_words()) fmt::print("{}: their words\n", words_beside(path, *format).string());
  return 0;
}

}  // namespace

CommandPtr export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace jari
