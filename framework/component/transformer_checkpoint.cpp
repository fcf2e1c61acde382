#include "framework/component/transformer_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "framework/text/corpus_files.hpp"

namespace jari {
namespace {

class TensorInit final : public Init {
 public:
  TensorInit(std::shared_ptr<const TensorFile> file, TensorEntry tensor)
      : file_(std::move(file)), tensor_(std::move(tensor)) {}
  void fill(const InitContext&, std::span<double> out) const override {
    const std::vector<double> values = file_->read(tensor_);
    std::copy(values.begin(), values.end(), out.begin());
  }

 private:
  std::shared_ptr<const TensorFile> file_;
  TensorEntry tensor_;
};

const std::map<std::string, std::string>& names_outside_blocks() {
  static const std::map<std::string, std::string> names = {{"embedding", "wte.weight"},
                                                           {"position/table", "wpe.weight"},
                                                           {"norm/scale", "ln_f.weight"},
                                                           {"norm/shift", "ln_f.bias"},
                                                           {"output_weight", "lm_head.weight"}};
  return names;
}

const std::map<std::string, std::string>& names_in_blocks() {
  static const std::map<std::string, std::string> names = {{"attention_norm/scale", "ln_1.weight"},
                                                           {"attention_norm/shift", "ln_1.bias"},
                                                           {"attention/weight", "attn.c_attn.weight"},
                                                           {"attention/bias", "attn.c_attn.bias"},
                                                           {"attention/output_weight", "attn.c_proj.weight"},
                                                           {"attention/output_bias", "attn.c_proj.bias"},
                                                           {"mlp_norm/scale", "ln_2.weight"},
                                                           {"mlp_norm/shift", "ln_2.bias"},
                                                           {"mlp/weight", "mlp.c_fc.weight"},
                                                           {"mlp/bias", "mlp.c_fc.bias"},
                                                           {"mlp/output_weight", "mlp.c_proj.weight"},
                                                           {"mlp/output_bias", "mlp.c_proj.bias"}};
  return names;
}

std::string found_in(const std::map<std::string, std::string>& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? "" : found->second;
}

}  // namespace

std::string gpt2_name(const std::string& parameter) {
  if (!parameter.starts_with("block")) return found_in(names_outside_blocks(), parameter);
  const std::size_t slash = parameter.find('/');
  const std::string name = found_in(names_in_blocks(), parameter.substr(std::min(slash + 1, parameter.size())));
  return name.empty() ? "" : fmt::format("h.{}.{}", parameter.substr(5, slash - 5), name);
}

CheckpointValues::CheckpointValues(const std::filesystem::path& path)
    : file_(std::make_shared<TensorFile>(path)), hash_(files_hash({path})) {}

Initializer CheckpointValues::of(const BuildContext& context, const std::string& name, const Shape& shape) const {
  const std::string path = context.graph.path(name);
  const std::string parameter = path.substr(path.find('/') + 1);  // below "model/"
  const std::string wanted = gpt2_name(parameter);
  const std::string file = file_->path().string();
  if (wanted.empty())
    context.fail(
        fmt::format("{}: GPT-2 has no parameter for '{}'; choose what GPT-2 has (position: learned, norm: "
                    "layer, activation: gelu, bias: true), or take `checkpoint` out",
                    file, parameter));
  const TensorEntry* tensor = file_->find(wanted);
  if (tensor == nullptr) tensor = file_->find("transformer." + wanted);
  if (tensor == nullptr) {
    std::string some;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, file_->tensors().size()); ++i)
      some += (i == 0 ? "" : ", ") + file_->tensors()[i].to_string();
    context.fail(fmt::format("{}: there is no tensor '{}'; it holds {} tensors, such as {}", file, wanted,
                             file_->tensors().size(), some));
  }
  const Shape found(tensor->shape);
  if (found != shape)
    context.fail(
        fmt::format("{}: the tensor '{}' is {}, and the model's '{}' is {}; give the model the checkpoint's "
                    "width, heads, blocks, vocabulary and max_length",
                    file, tensor->name, found.to_string(), parameter, shape.to_string()));
  return std::make_shared<TensorInit>(file_, *tensor);
}

}  // namespace jari
