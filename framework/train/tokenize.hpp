#pragma once
// From a corpus to ids.

#include <filesystem>

#include "framework/text/token_file.hpp"
#include "framework/train/data_spec.hpp"

namespace jari {

// Streams the corpus once (twice for a tokenizer that learns from it), counts its pieces, chooses the vocabulary, and
// writes the ids. In memory are the distinct pieces, then the beginnings of lines; a scratch file in `folder` holds the
// rest meanwhile. `block`: bytes read at a time.
void tokenize(const DataSpec& data, const std::filesystem::path& folder, TokenFileWriter& writer,
              std::size_t block = std::size_t{1} << 18);

}  // namespace jari
