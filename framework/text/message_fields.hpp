#pragma once
// The wire format of protocol buffers, as far as it takes to look into a SentencePiece model before its library does.

#include <cstdint>
#include <functional>
#include <string_view>

namespace jari {

// Calls `visit(number, bytes)` for the fields of a message that are texts, bytes or messages. False if the bytes are no
// message (groups, which no model has, are none), or as soon as `visit` says so.
using VisitField = std::function<bool(std::uint64_t number, std::string_view bytes)>;
bool visit_fields(std::string_view message, const VisitField& visit);

}  // namespace jari
