#include "framework/text/mecab.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"
#include "framework/base/shown_path.hpp"

#ifdef JARI_HAVE_MECAB
#include <mecab.h>

namespace jari {

bool has_mecab() { return true; }

struct Mecab::Model {
  mecab_model_t* model = nullptr;
  mecab_t* tagger = nullptr;
};

Mecab::Mecab(const std::filesystem::path& dictionary) : model_(std::make_unique<Model>()) {
  // Not as one string: that would be cut at the spaces of a path. And not with the machine's mecabrc.
  std::string program = "mecab", no_settings = "--rcfile=/dev/null", folder = "--dicdir=" + dictionary.string();
  char* arguments[] = {program.data(), no_settings.data(), folder.data()};
  model_->model = mecab_model_new(3, arguments);
  if (model_->model == nullptr) {
    throw StoreError(fmt::format(
        "{}: no dictionary of MeCab: {}; name a folder that mecab-dict-index has made (with sys.dic and dicrc in it)",
        shown_path(dictionary), mecab_strerror(nullptr)));
  }
  model_->tagger = mecab_model_new_tagger(model_->model);
}

Mecab::~Mecab() {
  if (model_->tagger != nullptr) mecab_destroy(model_->tagger);
  if (model_->model != nullptr) mecab_model_destroy(model_->model);
}

void Mecab::analyze(std::string_view text, const std::function<void(std::string_view, std::string_view)>& visit) const {
  const std::unique_ptr<mecab_lattice_t, void (*)(mecab_lattice_t*)> lattice(mecab_model_new_lattice(model_->model),
                                                                             mecab_lattice_destroy);
  mecab_lattice_set_sentence2(lattice.get(), text.data(), text.size());
  if (mecab_parse_lattice(model_->tagger, lattice.get()) == 0) {
    throw StoreError(fmt::format("MeCab can not analyze '{}': {}", text, mecab_lattice_strerror(lattice.get())));
  }
  for (const mecab_node_t* node = mecab_lattice_get_bos_node(lattice.get()); node != nullptr; node = node->next) {
    if (node->stat != MECAB_BOS_NODE && node->stat != MECAB_EOS_NODE)
      visit({node->surface, node->length}, node->feature);
  }
}

}  // namespace jari

#else

namespace jari {

bool has_mecab() { return false; }

struct Mecab::Model {};

Mecab::Mecab(const std::filesystem::path&) {
  throw StoreError("this build has no MeCab: install libmecab-dev, then configure and build again");
}
Mecab::~Mecab() = default;
void Mecab::analyze(std::string_view, const std::function<void(std::string_view, std::string_view)>&) const {}

}  // namespace jari

#endif
