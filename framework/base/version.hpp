#pragma once

namespace jari {

const char* version();  // "0.1.0"

}  // namespace jari
