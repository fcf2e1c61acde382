#include "framework/train/table_spec.hpp"

#include "framework/text/corpus_files.hpp"
#include "framework/train/run_table.hpp"

namespace jari {

std::string TableSpec::content_hash() const {
  std::vector<std::filesystem::path> files = {path.path};
  if (words) files.push_back(words->path);
  return files_hash(files);
}

std::shared_ptr<const WordTable> TableSpec::read() const {
  TableOptions options;
  options.tensor = tensor;
  options.format = format;
  if (words) options.words = words->path;
  return std::make_shared<WordTable>(read_any_table(path.path, options).table);
}

}  // namespace jari
