#include "framework/train/token_cache.hpp"

#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <cstdlib>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/train/tokenize.hpp"

namespace jari {
namespace {

// What ids depend on, but for the code.
std::string settings_key(const DataSpec& data) {
  const VocabularySettings settings = data.vocabulary ? data.vocabulary->settings() : VocabularySettings{};
  const SpecNode tokenizer = identity_form(data.tokenizer.resolved());
  std::string text = fmt::format("{}\n{}\n{}\n", data.content_hash(), to_yaml(tokenizer, /*sorted=*/true),
                                 data.normalize == Normalization::nfc ? "nfc" : "none");
  text += fmt::format("{} {} {} {}", data.vocabulary.has_value(), settings.size.value_or(-1), settings.min_count,
                      settings.unknown.has_value());
  if (settings.unknown) text += "\n" + *settings.unknown;
  for (const std::string& token : settings.special) text += "\n" + token;
  return hash128_hex(text);
}

// The program and all libraries and modules that it has loaded, by size and time of change: a tokenizer that was
// changed and built again must not be given the ids of the old one.
std::string code_key() {
  std::string text;
  const auto add = [](dl_phdr_info* info, std::size_t, void* data) {
    const bool program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
    struct stat status {};
    if (::stat(program ? "/proc/self/exe" : info->dlpi_name, &status) != 0) return 0;  // the kernel's own
    *static_cast<std::string*>(data) +=
        fmt::format("{} {}.{:09}\n", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    return 0;
  };
  ::dl_iterate_phdr(add, &text);
  return hash128_hex(text);
}

std::shared_ptr<const TokenizedCorpus> open_if_whole(const std::filesystem::path& path, const std::string& key) {
  if (!std::filesystem::exists(path)) return nullptr;
  try {
    return open_token_file(path, key);
  } catch (const StoreError&) {
    return nullptr;  // damaged, or another build's
  }
}

}  // namespace

std::filesystem::path default_token_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::filesystem::path(cache) / "jari" / "tokens";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::filesystem::path(home) / ".cache" / "jari" / "tokens";
  throw StoreError("no place for tokenized corpora: set XDG_CACHE_HOME (or HOME) to a folder that can be written");
}

std::filesystem::path TokenCache::path_of(const DataSpec& data) const {
  return folder_ / (settings_key(data) + ".tokens");
}

std::shared_ptr<const TokenizedCorpus> TokenCache::get(const DataSpec& data) {
  const std::filesystem::path path = path_of(data);
  const std::string key = hash128_hex(path.stem().string() + code_key());
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const TokenizedCorpus>& known = open_[path];
  std::shared_ptr<const TokenizedCorpus> corpus = known.lock();
  if (!corpus) corpus = open_if_whole(path, key);
  if (!corpus) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);  // what is wrong shows when the file is written
    AtomicFile file(path);
    TokenFileWriter writer([&](std::string_view bytes) { file.write(bytes); }, key);
    tokenize(data, folder_, writer);
    file.commit();
    corpus = open_token_file(path, key);
  }
  known = corpus;
  return corpus;
}

std::shared_ptr<const TokenizedCorpus> tokenized_corpus(const DataSpec& data) {
  static TokenCache cache;
  return cache.get(data);
}

}  // namespace jari
