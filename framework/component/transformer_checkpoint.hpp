#pragma once
// First values of a transformer's parameters from a file with GPT-2's names (framework/component/transformer.hpp has
// the names side by side). "transformer.wte.weight" is taken for "wte.weight", as Hugging Face writes both.

#include <filesystem>
#include <memory>
#include <string>

#include "framework/component/build_context.hpp"
#include "framework/table/tensor_file.hpp"

namespace jari {

class CheckpointValues final : public FirstValues {
 public:
  explicit CheckpointValues(const std::filesystem::path& path);

  Initializer of(const BuildContext& context, const std::string& name, const Shape& shape) const override;
  const std::string& content_hash() const { return hash_; }

 private:
  std::shared_ptr<const TensorFile> file_;
  std::string hash_;
};

// "block0/attention/weight" -> "h.0.attn.c_attn.weight"; "" for a parameter that GPT-2 has not.
std::string gpt2_name(const std::string& parameter);

}  // namespace jari
