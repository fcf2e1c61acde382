#pragma once
// Files that a fuzz target gives to a reader of paths, and the checksums that its mutations broke, made right again: a
// fuzzer does not guess them, and would never get past them.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace jari::fuzz {

// A folder of this process, removed at its end.
const std::filesystem::path& scratch_folder();

// Writes <scratch>/<name> over what was there.
std::filesystem::path write_scratch(const std::string& name, std::string_view bytes);

// The last line of an HDF5 file of ours (framework/store/hdf5_file.hpp), for these bytes.
std::string with_trailer(std::string_view image);

// A journal whose lines all bear the right checksum, those that end in '}'.
std::string with_line_checksums(std::string_view text);

}  // namespace jari::fuzz
