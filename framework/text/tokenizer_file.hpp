#pragma once
// A tokenizer.json that is read: its values, and errors that name it. Whatever of it is not known is an error: ids
// would silently differ.

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/text/text_steps.hpp"

namespace jari {

class TokenizerFile {
 public:
  using Json = nlohmann::json;

  // StoreError, as from all functions here, if the text is no JSON object with a model.
  TokenizerFile(std::string_view text, std::string name);

  const Json& json() const { return json_; }

  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void unsupported(const std::string& what) const;

  // A value that must be there, or has a default.
  template <class T>
  T get(const Json& object, const char* key, const std::optional<T>& otherwise = std::nullopt) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) {
      if (otherwise) return *otherwise;
      fail(fmt::format("'{}' is missing in {}", key, object.dump().substr(0, 80)));
    }
    constexpr bool kWhole = std::is_integral_v<T> && !std::is_same_v<T, bool>;
    try {
      if (!kWhole || found->is_number_integer()) return found->template get<T>();
    } catch (const Json::exception&) {
      // of another type
    }
    fail(fmt::format("'{}' is {}", key, found->dump().substr(0, 80)));
  }

  std::string type_of(const Json& step) const;
  // {"String": text} or {"Regex": text}, and whether it is the latter.
  std::pair<std::string, bool> pattern_of(const Json& step) const;

  // The steps under a key: null, one, or a sequence, which may hold others in `list`.
  using Visit = std::function<void(const Json& step)>;
  void each(const char* key, const char* list, const Visit& visit) const;

 private:
  void each_of(const Json& step, const char* key, const char* list, const Visit& visit, int depth) const;

  Json json_;
  std::string name_;
};

std::vector<Normalizer> read_normalizers(const TokenizerFile& file);
std::vector<Cutter> read_cutters(const TokenizerFile& file);
std::vector<Joiner> read_joiners(const TokenizerFile& file);

}  // namespace jari
