#pragma once
// Where things stand in a spec's text. Lines count from 1, bytes of a line from 0.

#include <memory>
#include <string>
#include <string_view>

#include "framework/base/source_span.hpp"

namespace jari {

using SourceFilePtr = std::shared_ptr<const SourceFile>;

std::string_view line_of(const SourceFilePtr& file, int line);  // "" beyond the file

SourceSpan span_at(const SourceFilePtr& file, int line, std::size_t byte, std::size_t bytes = 1);

// Bytes of a scalar as it stands in its line from `byte` on; to the end of the line if it goes on below.
std::size_t scalar_extent(std::string_view line, std::size_t byte, const std::string& text);

// Whether the quote that opens a scalar is closed in some line: yaml-cpp takes the end of the file for it.
bool is_closed(const SourceFilePtr& file, int line, std::size_t byte);

// The byte after anchor and tag: yaml-cpp's mark of a node is that of these.
std::size_t after_properties(std::string_view line, std::size_t byte);

}  // namespace jari
