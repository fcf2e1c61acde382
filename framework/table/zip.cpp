#include "framework/table/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "framework/base/error.hpp"

namespace jari {
namespace {

constexpr std::uint32_t kLocalMark = 0x04034B50, kCentralMark = 0x02014B50, kEndMark = 0x06054B50;
constexpr std::uint32_t kZip64 = 0xFFFFFFFF;  // "see the zip64 field"
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& message) {
  throw StoreError(fmt::format("{}: {}", path.string(), message));
}

std::uint32_t number_at(std::string_view bytes, std::size_t offset, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = size; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[offset + i]);
  return number;
}

void append(std::string& bytes, std::uint32_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
}

std::string bytes_of(const std::filesystem::path& path, std::uint64_t begin, std::uint64_t size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  InputFile(path.string(), open_file(path, begin, size)).read(bytes.data(), bytes.size(), "the archive");
  return bytes;
}

struct Directory {
  std::uint64_t offset, size, members;
};

// The end record stands at the end, before a comment of at most 64 KiB.
Directory find_directory(const std::filesystem::path& path) {
  const std::uint64_t file_bytes = std::filesystem::file_size(path);
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(file_bytes, kEndBytes + 0xFFFF);
  const std::string tail = bytes_of(path, file_bytes - tail_bytes, tail_bytes);
  for (std::size_t at = tail.size(); at-- > 0;) {
    if (at + kEndBytes > tail.size() || number_at(tail, at, 4) != kEndMark) continue;
    const Directory found{number_at(tail, at + 16, 4), number_at(tail, at + 12, 4), number_at(tail, at + 10, 2)};
    if (found.offset == kZip64 || found.size == kZip64 || found.members == 0xFFFF)
      fail(path, "is a zip64 archive (4 GiB or more), which jari does not read; save the table as .npy");
    if (found.offset > file_bytes || found.size > file_bytes - found.offset)
      fail(path, "cut short: its directory lies behind its end");
    return found;
  }
  fail(path, "cut short, or no zip archive: it does not end as one");
}

// Stops at the member's size and compares its checksum.
class MemberStream final : public ByteStream {
 public:
  MemberStream(ByteStreamPtr bytes, const ZipMember& member, std::string name)
      : bytes_(std::move(bytes)), left_(member.bytes), expected_(member.crc), name_(std::move(name)) {}

  std::size_t read(char* into, std::size_t size) override {
    size = static_cast<std::size_t>(std::min<std::uint64_t>(size, left_));
    const std::size_t got = bytes_->read(into, size);
    if (got < size) throw StoreError(fmt::format("{}: damaged: {} bytes of it are missing", name_, left_ - got));
    crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(into), got);
    left_ -= got;
    if (left_ == 0 && size > 0 && crc_ != expected_) throw StoreError(name_ + ": damaged: its checksum does not fit");
    return got;
  }
  std::uint64_t most_left() const override { return std::min(left_, bytes_->most_left()); }

 private:
  ByteStreamPtr bytes_;
  std::uint64_t left_;
  uLong crc_ = 0, expected_;
  std::string name_;
};

}  // namespace

std::vector<ZipMember> zip_members(const std::filesystem::path& path) {
  const Directory directory = find_directory(path);
  const std::string bytes = bytes_of(path, directory.offset, directory.size);
  std::vector<ZipMember> members;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    if (at + kCentralBytes > bytes.size() || number_at(bytes, at, 4) != kCentralMark)
      fail(path, fmt::format("damaged: entry {} of its directory is none", i));
    const std::size_t name_bytes = number_at(bytes, at + 28, 2);
    const std::size_t more = number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
    if (bytes.size() - at - kCentralBytes < name_bytes + more)
      fail(path, fmt::format("damaged: entry {} of its directory is longer than the directory", i));
    ZipMember member{bytes.substr(at + kCentralBytes, name_bytes),
                     false,
                     number_at(bytes, at + 16, 4),
                     number_at(bytes, at + 20, 4),
                     number_at(bytes, at + 24, 4),
                     number_at(bytes, at + 42, 4)};
    const std::uint32_t method = number_at(bytes, at + 10, 2), flags = number_at(bytes, at + 8, 2);
    if (member.packed_bytes == kZip64 || member.bytes == kZip64 || member.offset == kZip64)
      fail(path, fmt::format("its member {} is zip64 (4 GiB or more), which jari does not read; save the table as .npy",
                             member.name));
    if ((method != 0 && method != Z_DEFLATED) || (flags & 1u) != 0)
      fail(path, fmt::format("its member {} is {}; known are stored and deflated ones", member.name,
                             (flags & 1u) != 0 ? "encrypted" : fmt::format("packed by method {}", method)));
    member.is_deflated = method == Z_DEFLATED;
    members.push_back(std::move(member));
    at += kCentralBytes + name_bytes + more;
  }
  return members;
}

InputFile open_member(const std::filesystem::path& path, const ZipMember& member) {
  const std::string name = path.string() + ":" + member.name;
  const std::string local = bytes_of(path, member.offset, kLocalBytes);
  if (number_at(local, 0, 4) != kLocalMark) fail(path, fmt::format("damaged: there is no member {}", member.name));
  const std::uint64_t begin = member.offset + kLocalBytes + number_at(local, 26, 2) + number_at(local, 28, 2);
  ByteStreamPtr bytes = open_file(path, begin, member.packed_bytes);
  if (member.is_deflated) bytes = unpack(std::move(bytes), Packing::deflate, name);
  return {name, std::make_unique<MemberStream>(std::move(bytes), member, name)};
}

void ZipWriter::add(const std::string& name, const std::vector<std::string_view>& parts) {
  ZipMember member{name, true, 0, 0, 0, offset_};
  z_stream deflater{};
  if (deflateInit2(&deflater, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
    throw StoreError("zlib can not start");
  // Sizes stand before the bytes, so the packed ones are held until they are known.
  std::string packed, block(1 << 16, '\0');
  for (std::size_t i = 0; i <= parts.size(); ++i) {
    std::string_view part = i < parts.size() ? parts[i] : std::string_view();
    member.bytes += part.size();
    if (!part.empty()) {  // zlib takes a null pointer as "start anew"
      member.crc =
          static_cast<std::uint32_t>(crc32_z(member.crc, reinterpret_cast<const Bytef*>(part.data()), part.size()));
    }
    do {
      const std::string_view some = part.substr(0, 1 << 30);
      deflater.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(some.data()));
      deflater.avail_in = static_cast<uInt>(some.size());
      do {
        deflater.next_out = reinterpret_cast<Bytef*>(block.data());
        deflater.avail_out = static_cast<uInt>(block.size());
        deflate(&deflater, i < parts.size() ? Z_NO_FLUSH : Z_FINISH);
        packed.append(block, 0, block.size() - deflater.avail_out);
      } while (deflater.avail_out == 0);
      part.remove_prefix(some.size());
    } while (!part.empty());
  }
  deflateEnd(&deflater);
  member.packed_bytes = packed.size();
  if (std::max({member.bytes, member.packed_bytes, offset_}) >= kZip64)
    fail(file_.path(), "would take 4 GiB or more, which jari does not write as .npz; save it as .npy");
  std::string header;
  append(header, kLocalMark, 4);
  append(header, 20, 2);      // version that can read it: 2.0
  append(header, 0x0800, 2);  // names are UTF-8
  append(header, Z_DEFLATED, 2);
  append(header, 0, 2);  // time and date: midnight of 1 January 1980, so that equal tables give equal files
  append(header, 0x0021, 2);
  append(header, member.crc, 4);
  append(header, static_cast<std::uint32_t>(member.packed_bytes), 4);
  append(header, static_cast<std::uint32_t>(member.bytes), 4);
  append(header, static_cast<std::uint32_t>(name.size()), 2);
  append(header, 0, 2);
  file_.write(header + name);
  file_.write(packed);
  offset_ += header.size() + name.size() + packed.size();
  members_.push_back(std::move(member));
}

void ZipWriter::finish() {
  std::string directory;
  for (const ZipMember& member : members_) {
    append(directory, kCentralMark, 4);
    append(directory, 20, 2);
    append(directory, 20, 2);
    append(directory, 0x0800, 2);
    append(directory, Z_DEFLATED, 2);
    append(directory, 0, 2);
    append(directory, 0x0021, 2);
    append(directory, member.crc, 4);
    append(directory, static_cast<std::uint32_t>(member.packed_bytes), 4);
    append(directory, static_cast<std::uint32_t>(member.bytes), 4);
    append(directory, static_cast<std::uint32_t>(member.name.size()), 2);
    append(directory, 0, 4);  // no extra field, no comment
    append(directory, 0, 4);  // disk, internal attributes
    append(directory, 0, 4);  // external attributes
    append(directory, static_cast<std::uint32_t>(member.offset), 4);
    directory += member.name;
  }
  std::string end;
  append(end, kEndMark, 4);
  append(end, 0, 4);  // of one disk
  append(end, static_cast<std::uint32_t>(members_.size()), 2);
  append(end, static_cast<std::uint32_t>(members_.size()), 2);
  append(end, static_cast<std::uint32_t>(directory.size()), 4);
  append(end, static_cast<std::uint32_t>(offset_), 4);
  append(end, 0, 2);
  file_.write(directory + end);
}

}  // namespace jari
