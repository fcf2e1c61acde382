#pragma once
// placeholder
namespace jari { class Registry; void register_builtin_plugins(Registry&); const char* build_id(); }
