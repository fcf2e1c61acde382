#pragma once
// The bytes of a file, as they are or unpacked, from the beginning on and never all of them at once. Every failure is a
// StoreError that begins with the file's name.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jari {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // How many bytes were read: fewer than asked for only at the end.
  virtual std::size_t read(char* into, std::size_t size) = 0;
  // Goes on `size` bytes later.
  virtual void pass(std::uint64_t size);
  // No more than this can still come: what a header promises is compared with it before memory is taken.
  virtual std::uint64_t most_left() const = 0;
};

using ByteStreamPtr = std::unique_ptr<ByteStream>;

// Of a file, `size` bytes from `begin`. StoreError if it is missing or a folder.
ByteStreamPtr open_file(const std::filesystem::path& path);
ByteStreamPtr open_file(const std::filesystem::path& path, std::uint64_t begin, std::uint64_t size);

// gzip: one member or several, with checksums. deflate: without any frame, as in zip files.
enum class Packing { gzip, deflate };
ByteStreamPtr unpack(ByteStreamPtr packed, Packing packing, const std::string& name);

// A stream that can be looked ahead in.
class InputFile {
 public:
  // A file, unpacked if it begins as gzip does.
  static InputFile open(const std::filesystem::path& path);
  InputFile(std::string name, ByteStreamPtr stream);

  const std::string& name() const { return name_; }
  bool is_packed() const { return is_packed_; }

  // The next `size` bytes, or all that are left if those are fewer. Valid until the next call.
  std::string_view peek(std::size_t size);
  void skip(std::size_t size);  // no more than was peeked at
  // The next line without its end ("\n" or "\r\n"), which is passed; false at the end of the bytes.
  bool read_line(std::string_view& line);
  // Exactly `size` bytes; StoreError "cut short" if there are fewer. `what`: "the values".
  void read(char* into, std::size_t size, std::string_view what);
  void pass(std::uint64_t size);
  std::string read_rest();  // all that is left; StoreError from 1 GiB on

  std::uint64_t offset() const { return offset_; }  // of the next byte, unpacked
  std::uint64_t most_left() const { return (end_ - begin_) + stream_->most_left(); }

  [[noreturn]] void fail(const std::string& message) const;  // StoreError "NAME: message"

 private:
  std::string name_;
  ByteStreamPtr stream_;
  bool is_packed_ = false;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is buffered
  std::uint64_t offset_ = 0;
};

}  // namespace jari
