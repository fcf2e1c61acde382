#include "tests/fuzz/mutated_file.hpp"

#include "framework/base/error.hpp"

namespace jari::fuzz {
namespace {

constexpr int kMostExtras = 8;

// What the library itself refuses (a name twice, an attribute of what is not there) is just not in the file.
template <class Action>
void if_possible(const Action& action) {
  try {
    action();
  } catch (const StoreError&) {
  }
}

}  // namespace

void MutatedFile::group(const std::string& path) {
  paths_.push_back(path);
  switch (choices_.below(4)) {
    case 1:
      return;
    case 2:
      return if_possible([&] { other_array(path); });
    default:
      return if_possible([&] { file_.make_group(path); });
  }
}

void MutatedFile::attribute(const std::string& object, const std::string& name, const Hdf5Attribute& value) {
  switch (choices_.below(4)) {
    case 1:
      return;
    case 2:
      return if_possible([&] { file_.set_attribute(object, name, other_value()); });
    case 3:
      return if_possible([&] { file_.set_attribute(known_path(), name, value); });
    default:
      return if_possible([&] { file_.set_attribute(object, name, value); });
  }
}

template <class T>
void MutatedFile::array(const std::string& path, const Hdf5Shape& shape, const std::vector<T>& values) {
  paths_.push_back(path);
  switch (choices_.below(6)) {
    case 1:
      return;
    case 2:
      return if_possible([&] { other_array(path); });
    case 3:
      return if_possible([&] { file_.make_group(path); });
    case 4:
      return if_possible([&] { file_.write(known_path() + "/" + choices_.text(), shape, values); });
    case 5: {  // the same values, another shape
      const auto count = static_cast<std::int64_t>(values.size());
      return if_possible([&] {
        file_.write(path, choices_.below(2) == 0 ? Hdf5Shape{1, count} : Hdf5Shape{count}, values);
      });
    }
    default:
      return if_possible([&] { file_.write(path, shape, values); });
  }
}

template void MutatedFile::array(const std::string&, const Hdf5Shape&, const std::vector<float>&);
template void MutatedFile::array(const std::string&, const Hdf5Shape&, const std::vector<double>&);
template void MutatedFile::array(const std::string&, const Hdf5Shape&, const std::vector<std::int64_t>&);
template void MutatedFile::array(const std::string&, const Hdf5Shape&, const std::vector<std::uint8_t>&);
template void MutatedFile::array(const std::string&, const Hdf5Shape&, const std::vector<std::string>&);

void MutatedFile::finish() {
  for (int i = 0; i < kMostExtras && !choices_.empty(); ++i) {
    if_possible([&] {
      switch (choices_.below(3)) {
        case 0:
          return file_.set_attribute(known_path(), choices_.text(), other_value());
        case 1:
          return file_.make_group(known_path() + "/" + choices_.text());
        default:
          return other_array(known_path() + "/" + choices_.text());
      }
    });
  }
  file_.save();
}

void MutatedFile::other_array(const std::string& path) {
  const std::int64_t count = choices_.below(5);
  const Hdf5Shape shape = choices_.below(2) == 0 ? Hdf5Shape{count} : Hdf5Shape{count, 1, 1};
  const auto size = static_cast<std::size_t>(count);
  switch (choices_.below(7)) {
    case 0:
      return file_.write(path, shape, std::vector<float>(size, static_cast<float>(choices_.byte())));
    case 1:
      return file_.write(path, shape, std::vector<double>(size, choices_.real()));
    case 2:
      return file_.write(path, shape, std::vector<std::int32_t>(size, choices_.byte()));
    case 3:
      return file_.write(path, shape, std::vector<std::int64_t>(size, choices_.number()));
    case 4:
      return file_.write(path, shape, std::vector<std::uint8_t>(size, choices_.byte()));
    case 5:
      return file_.write(path, shape, std::vector<std::string>(size, choices_.text()));
    default:
      return file_.write_text(path, choices_.text());
  }
}

Hdf5Attribute MutatedFile::other_value() {
  switch (choices_.below(7)) {
    case 0:
      return choices_.number();
    case 1:
      return static_cast<std::uint64_t>(choices_.number());
    case 2:
      return choices_.real();
    case 3:
      return choices_.text();
    case 4:
      return choices_.below(2) == 0;
    case 5:
      return std::vector<std::int64_t>(static_cast<std::size_t>(choices_.below(4)), choices_.number());
    default:
      return std::vector<std::string>(static_cast<std::size_t>(choices_.below(4)), choices_.text());
  }
}

std::string MutatedFile::known_path() {
  return paths_[static_cast<std::size_t>(choices_.below(static_cast<int>(paths_.size())))];
}

}  // namespace jari::fuzz
