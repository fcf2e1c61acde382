#include "framework/table/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "framework/base/error.hpp"

namespace jari {
namespace {

constexpr std::size_t kBlock = 1 << 18;

class FileStream final : public ByteStream {
 public:
  explicit FileStream(const std::filesystem::path& path) : name_(path.string()) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw StoreError(fmt::format("{}: can not be read: {}", name_, std::strerror(errno)));
    struct stat status {};
    const bool is_file = fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
    if (!is_file) {
      ::close(descriptor_);
      throw StoreError(fmt::format("{}: is no file", name_));
    }
    end_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~FileStream() override { ::close(descriptor_); }
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

  void narrow(std::uint64_t begin, std::uint64_t size) {
    if (begin > end_ || size > end_ - begin)
      throw StoreError(fmt::format("{}: cut short: {} bytes from byte {} on lie behind its end", name_, size, begin));
    offset_ = begin;
    end_ = begin + size;
  }

  std::size_t read(char* into, std::size_t size) override {
    size = static_cast<std::size_t>(std::min<std::uint64_t>(size, end_ - offset_));
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got = ::pread(descriptor_, into + done, size - done, static_cast<off_t>(offset_));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw StoreError(fmt::format("{}: can not be read: {}", name_, std::strerror(errno)));
      if (got == 0) break;  // somebody made it shorter
      done += static_cast<std::size_t>(got);
      offset_ += static_cast<std::uint64_t>(got);
    }
    return done;
  }
  void pass(std::uint64_t size) override { offset_ += std::min(size, end_ - offset_); }
  std::uint64_t most_left() const override { return end_ - offset_; }

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t offset_ = 0, end_ = 0;
};

class InflateStream final : public ByteStream {
 public:
  InflateStream(ByteStreamPtr packed, Packing packing, std::string name)
      : packed_(std::move(packed)), packing_(packing), name_(std::move(name)), input_(kBlock) {
    constexpr int kWindow = 15, kGzip = 16;  // zlib's own constants
    if (inflateInit2(&inflater_, packing == Packing::gzip ? kWindow + kGzip : -kWindow) != Z_OK)
      throw StoreError(fmt::format("{}: zlib can not start", name_));
  }
  ~InflateStream() override { inflateEnd(&inflater_); }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  std::size_t read(char* into, std::size_t size) override {
    std::size_t done = 0;
    while (done < size && !ended_) {
      if (inflater_.avail_in == 0) refill();  // even without more input there may be output
      const std::size_t part = std::min<std::size_t>(size - done, 1 << 30);
      inflater_.next_out = reinterpret_cast<Bytef*>(into + done);
      inflater_.avail_out = static_cast<uInt>(part);
      const int status = inflate(&inflater_, Z_NO_FLUSH);
      done += part - inflater_.avail_out;
      unpacked_ += part - inflater_.avail_out;
      if (status == Z_STREAM_END) {
        start_next_member();
      } else if (status == Z_BUF_ERROR && inflater_.avail_in == 0) {
        throw StoreError(
            fmt::format("{}: cut short: its compressed bytes end after {} unpacked ones", name_, unpacked_));
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw StoreError(fmt::format("{}: damaged after {} unpacked bytes: {}", name_, unpacked_,
                                     inflater_.msg != nullptr ? inflater_.msg : "it can not be unpacked"));
      }
    }
    return done;
  }
  // deflate packs no more than 1032 bytes into one.
  std::uint64_t most_left() const override {
    constexpr std::uint64_t kMostPacked = 1032, kPending = 1 << 16;
    return ended_ ? 0 : (packed_->most_left() + inflater_.avail_in) * kMostPacked + kPending;
  }

 private:
  void refill() {
    const std::size_t got = packed_->read(input_.data(), input_.size());
    inflater_.next_in = reinterpret_cast<Bytef*>(input_.data());
    inflater_.avail_in = static_cast<uInt>(got);
  }
  // What follows a gzip member is another one, or padding.
  void start_next_member() {
    if (packing_ == Packing::gzip) {
      if (inflater_.avail_in == 0) refill();
      if (inflater_.avail_in > 0 && *inflater_.next_in == 0x1F) {
        inflateReset(&inflater_);
        return;
      }
    }
    ended_ = true;
  }

  ByteStreamPtr packed_;
  Packing packing_;
  std::string name_;
  std::vector<char> input_;
  z_stream inflater_{};
  std::uint64_t unpacked_ = 0;
  bool ended_ = false;
};

}  // namespace

void ByteStream::pass(std::uint64_t size) {
  std::vector<char> ignored(static_cast<std::size_t>(std::min<std::uint64_t>(size, kBlock)));
  while (size > 0) {
    const std::size_t got = read(ignored.data(), static_cast<std::size_t>(std::min<std::uint64_t>(size, kBlock)));
    if (got == 0) return;
    size -= got;
  }
}

ByteStreamPtr open_file(const std::filesystem::path& path) { return std::make_unique<FileStream>(path); }

ByteStreamPtr open_file(const std::filesystem::path& path, std::uint64_t begin, std::uint64_t size) {
  auto stream = std::make_unique<FileStream>(path);
  stream->narrow(begin, size);
  return stream;
}

ByteStreamPtr unpack(ByteStreamPtr packed, Packing packing, const std::string& name) {
  return std::make_unique<InflateStream>(std::move(packed), packing, name);
}

InputFile InputFile::open(const std::filesystem::path& path) {
  const std::string name = path.string();
  char first[2] = {};
  const bool is_gzip = open_file(path)->read(first, 2) == 2 && first[0] == '\x1F' && first[1] == '\x8B';
  ByteStreamPtr file = open_file(path);
  InputFile source(name, is_gzip ? unpack(std::move(file), Packing::gzip, name) : std::move(file));
  source.is_packed_ = is_gzip;
  return source;
}

InputFile::InputFile(std::string name, ByteStreamPtr stream)
    : name_(std::move(name)), stream_(std::move(stream)), buffer_(kBlock) {}

std::string_view InputFile::peek(std::size_t size) {
  if (end_ - begin_ < size) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    // Twice as much as is asked for at least, so that growing requests for one line cost no more than its length.
    if (size > buffer_.size()) buffer_.resize(std::max(size, 2 * buffer_.size()));
    end_ += stream_->read(buffer_.data() + end_, buffer_.size() - end_);
  }
  return {buffer_.data() + begin_, std::min(size, end_ - begin_)};
}

void InputFile::skip(std::size_t size) {
  JARI_ASSERT(size <= end_ - begin_, "skipping what was not peeked at");
  begin_ += size;
  offset_ += size;
}

bool InputFile::read_line(std::string_view& line) {
  constexpr std::size_t kLongest = std::size_t{1} << 26;
  std::size_t looked_at = 0;
  for (std::size_t size = 1 << 13;; size *= 2) {
    const std::string_view window = peek(size);
    const std::size_t end = window.find('\n', looked_at);
    if (end == std::string_view::npos && window.size() == size) {
      if (size > kLongest) fail(fmt::format("a line of more than {} bytes at byte {}: this is no text", size, offset_));
      looked_at = size;
      continue;
    }
    if (window.empty()) return false;
    line = window.substr(0, end);
    skip(end == std::string_view::npos ? window.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }
}

void InputFile::read(char* into, std::size_t size, std::string_view what) {
  const std::size_t buffered = std::min(size, end_ - begin_);
  std::memcpy(into, buffer_.data() + begin_, buffered);
  skip(buffered);
  const std::size_t got = stream_->read(into + buffered, size - buffered);
  offset_ += got;
  if (buffered + got < size) {
    fail(fmt::format("cut short: {} should go on for {} bytes more, but the file ends at byte {}", what,
                     size - buffered - got, offset_));
  }
}

void InputFile::pass(std::uint64_t size) {
  const auto buffered = static_cast<std::size_t>(std::min<std::uint64_t>(size, end_ - begin_));
  skip(buffered);
  stream_->pass(size - buffered);
  offset_ += size - buffered;
}

std::string InputFile::read_rest() {
  constexpr std::size_t kLongest = std::size_t{1} << 30;
  std::string rest;
  while (!peek(1).empty()) {
    rest.append(buffer_.data() + begin_, end_ - begin_);
    skip(end_ - begin_);
    if (rest.size() > kLongest) fail("is longer than 1 GiB, too long for what it should hold");
  }
  return rest;
}

void InputFile::fail(const std::string& message) const { throw StoreError(fmt::format("{}: {}", name_, message)); }

}  // namespace jari
