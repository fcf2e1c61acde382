#pragma once
// A weight table of a run, with the words of its vocabulary.

#include <filesystem>
#include <string>

#include "framework/table/table_file.hpp"

namespace jari {

// A trial's folder, or a run file.
bool is_run(const std::filesystem::path& path);

// The array `options.tensor` below /weights, which must have two axes: rows and numbers. "": the first whose rows are
// tokens. Rows have the words of the file `options.words`, or of /vocabulary if there are as many of them, and go by
// their numbers otherwise. StoreError if there is no such array, with those that there are.
LoadedTable read_run_table(const std::filesystem::path& path, const TableOptions& options);

// The table of a run or of a file of another program.
LoadedTable read_any_table(const std::filesystem::path& path, const TableOptions& options);

}  // namespace jari
