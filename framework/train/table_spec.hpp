#pragma once
// The block `table` of a spec: vectors of another program, or of a run, for analyses to look into.

#include <memory>
#include <optional>
#include <string>

#include "framework/spec/fields.hpp"
#include "framework/spec/spec_path.hpp"
#include "framework/table/table_file.hpp"

namespace jari {

inline const EnumNames<TableFormat>& enum_names(TableFormat) {
  static const EnumNames<TableFormat> names = [] {
    EnumNames<TableFormat> all;
    for (const std::string& name : table_format_names()) all.emplace_back(*table_format_named(name), name.c_str());
    return all;
  }();
  return names;
}

struct TableSpec {
  SpecPath path;
  std::string tensor;
  std::optional<SpecPath> words;
  std::optional<TableFormat> format;

  template <class F>
  void fields(F& f) {
    f("path", path, "a table of vectors, or a run file; its bytes count, not its name", required, output_setting);
    f("tensor", tensor, "which array of the file, where it has several");
    f("words", words, "the words of the rows, where the file has none: a line each, or JSON as GPT-2's encoder.json",
      output_setting);
    f("format", format, "how the file is written; without it by its content");
  }
  void check(FieldChecks& checks) const {
    check_file(checks, "path", path);
    if (words) check_file(checks, "words", *words);
  }

  // Of the files: part of a trial's identity. StoreError if one can not be read.
  std::string content_hash() const;
  // StoreError if it is no table.
  std::shared_ptr<const WordTable> read() const;
};

}  // namespace jari
