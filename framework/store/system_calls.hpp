#pragma once
// System calls with errors that tell a person what to do.

#include <filesystem>
#include <string>
#include <string_view>

namespace jari {

// StoreError "PATH: can not ACTION: <reason>; <what to do>". `error` is an errno.
[[noreturn]] void throw_system_error(const std::filesystem::path& path, const std::string& action, int error);

// Writes all bytes. Returns 0, or the errno of the failure.
int write_all(int descriptor, std::string_view bytes);

}  // namespace jari
