#pragma once
// HDF5 files that are good as files and wrong in what they hold: what a target would write, altered piece by piece as a
// fuzzer's bytes say. Without bytes the file is as it should be.

#include <string>
#include <vector>

#include "framework/store/hdf5_file.hpp"
#include "tests/fuzz/choices.hpp"

namespace jari::fuzz {

class MutatedFile {
 public:
  MutatedFile(const std::filesystem::path& path, Choices& choices) : file_(Hdf5File::create(path)), choices_(choices) {}

  void group(const std::string& path);
  void attribute(const std::string& object, const std::string& name, const Hdf5Attribute& value);
  template <class T>
  void array(const std::string& path, const Hdf5Shape& shape, const std::vector<T>& values);

  // Objects that nobody asked for, as long as there are bytes; then the file, with its checksum.
  void finish();

 private:
  void other_array(const std::string& path);
  Hdf5Attribute other_value();
  std::string known_path();

  Hdf5File file_;
  Choices& choices_;
  std::vector<std::string> paths_{""};  // of what was asked for, made or not
};

}  // namespace jari::fuzz
