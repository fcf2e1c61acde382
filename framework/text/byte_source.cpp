#include "framework/text/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/shown_path.hpp"

namespace jari {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& message) {
  throw StoreError(fmt::format("{}: {}", shown_path(path), message));
}

// The file itself, with a look at its first bytes.
class FileBytes {
 public:
  FileBytes(std::filesystem::path path, std::size_t block)
      : path_(std::move(path)), buffer_(std::max<std::size_t>(block, 16)) {
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(path_, fmt::format("can not read: {}", std::strerror(errno)));
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode)) {
      ::close(descriptor_);
      fail(path_, "is a folder: name the files in it, for example with /*.txt");
    }
  }
  ~FileBytes() { ::close(descriptor_); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Up to 16 bytes, which are read again by `next`.
  std::string_view head() {
    while (end_ < 16) {
      const std::size_t count = read(std::span(buffer_).subspan(end_));
      if (count == 0) break;
      end_ += count;
    }
    return {buffer_.data(), std::min<std::size_t>(end_, 16)};
  }

  // The next bytes of the file; empty at its end.
  std::span<const char> next() {
    const std::size_t count = end_ > 0 ? std::exchange(end_, 0) : read(buffer_);
    return {buffer_.data(), count};
  }

 private:
  std::size_t read(std::span<char> out) {
    for (;;) {
      const ssize_t count = ::read(descriptor_, out.data(), out.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) fail(path_, fmt::format("can not read: {}", std::strerror(errno)));
    }
  }

  std::filesystem::path path_;
  std::vector<char> buffer_;
  std::size_t end_ = 0;  // bytes in the buffer that `next` has not given out
  int descriptor_ = -1;
};

using FilePtr = std::unique_ptr<FileBytes>;

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(FilePtr file) : file_(std::move(file)) {}
  std::size_t read(std::span<char> out) override {
    if (rest_.empty()) rest_ = file_->next();
    const std::size_t count = std::min(out.size(), rest_.size());
    std::copy_n(rest_.begin(), count, out.begin());
    rest_ = rest_.subspan(count);
    return count;
  }

 private:
  FilePtr file_;
  std::span<const char> rest_;
};

// What the packed formats share: packed bytes in, a count of unpacked bytes, and the two ways to be broken.
class PackedSource : public ByteSource {
 public:
  PackedSource(FilePtr file, const char* format) : file_(std::move(file)), format_(format) {}

 protected:
  // Whether there are packed bytes in `packed_`; false at the end of the file.
  bool refill() {
    if (packed_.empty()) packed_ = file_->next();
    return !packed_.empty();
  }
  [[noreturn]] void damaged(const std::string& reason) const {
    fail(file_->path(),
         fmt::format("damaged {} file: {} after {} unpacked bytes; get the file again", format_, reason, unpacked_));
  }
  [[noreturn]] void cut_short() const {
    fail(file_->path(), fmt::format("{} file that is cut short: it ends after {} unpacked bytes; get the file again",
                                    format_, unpacked_));
  }

  FilePtr file_;
  const char* format_;
  std::span<const char> packed_;
  std::size_t unpacked_ = 0;
};

class GzipSource final : public PackedSource {
 public:
  explicit GzipSource(FilePtr file) : PackedSource(std::move(file), "gzip") {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw StoreError("zlib can not start: out of memory");
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<char> out) override {
    std::size_t count = 0;
    while (count == 0) {
      if (!refill()) {
        if (in_member_) cut_short();
        return 0;
      }
      if (!in_member_ && !begin_member()) return 0;
      count = inflate_into(out);
    }
    return count;
  }

 private:
  // A file may hold several members, one after the other, and zeros behind them.
  bool begin_member() {
    if (members_ > 0) {
      while (refill() && packed_.front() == 0) packed_ = packed_.subspan(1);
      if (packed_.empty()) return false;
      if (static_cast<unsigned char>(packed_.front()) != 0x1F) damaged("other bytes follow");
      inflateReset(&stream_);
    }
    ++members_;
    in_member_ = true;
    return true;
  }

  std::size_t inflate_into(std::span<char> out) {
    // zlib's interface is not const, but it only reads.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data()));
    stream_.avail_in = static_cast<uInt>(packed_.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), 1u << 30));
    const std::size_t room = stream_.avail_out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    const std::size_t count = room - stream_.avail_out;
    packed_ = packed_.last(stream_.avail_in);
    unpacked_ += count;
    if (status == Z_STREAM_END) {
      in_member_ = false;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      damaged(stream_.msg != nullptr ? stream_.msg : "zlib can not go on");
    }
    return count;
  }

  z_stream stream_{};
  int members_ = 0;
  bool in_member_ = false;
};

class ZstdSource final : public PackedSource {
 public:
  explicit ZstdSource(FilePtr file) : PackedSource(std::move(file), "zstd"), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw StoreError("zstd can not start: out of memory");
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  std::size_t read(std::span<char> out) override {
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    while (target.pos == 0) {
      const bool at_end = !refill();
      if (at_end && !in_frame_) return 0;
      ZSTD_inBuffer source{packed_.data(), packed_.size(), 0};
      const std::size_t status = ZSTD_decompressStream(stream_, &target, &source);
      if (ZSTD_isError(status) != 0) damaged(ZSTD_getErrorName(status));
      packed_ = packed_.subspan(source.pos);
      in_frame_ = status != 0;
      if (at_end && target.pos == 0 && in_frame_) cut_short();
    }
    unpacked_ += target.pos;
    return target.pos;
  }

 private:
  ZSTD_DStream* stream_;
  bool in_frame_ = false;
};

bool begins_with(std::string_view head, std::string_view magic) { return head.substr(0, magic.size()) == magic; }

void refuse_other_formats(std::string_view head, const std::filesystem::path& path) {
  struct Format {
    std::string_view magic;
    const char* name;
  };
  constexpr Format kFormats[] = {{"\xFD"
                                  "7zXZ",
                                  "an xz file"},
                                 {"BZh", "a bzip2 file"},
                                 {"PK\x03\x04", "a zip file"}};
  for (const Format& format : kFormats) {
    if (begins_with(head, format.magic))
      fail(path, fmt::format("is {}, which is not read: unpack it, or pack it with gzip or zstd", format.name));
  }
  if (begins_with(head, "\xFF\xFE") || begins_with(head, "\xFE\xFF")) {
    fail(path, "is UTF-16: convert it, for example with `iconv -f UTF-16 -t UTF-8`");
  }
}

// A zstd file may begin with a frame that is to be skipped.
bool is_zstd(std::string_view head) {
  const bool skippable =
      head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xF0u) == 0x50 && head.substr(1, 3) == "\x2A\x4D\x18";
  return skippable || begins_with(head, "\x28\xB5\x2F\xFD");
}

}  // namespace

std::unique_ptr<ByteSource> open_byte_source(const std::filesystem::path& path, std::size_t block) {
  auto file = std::make_unique<FileBytes>(path, block);
  const std::string_view head = file->head();
  if (begins_with(head, "\x1F\x8B")) return std::make_unique<GzipSource>(std::move(file));
  if (is_zstd(head)) return std::make_unique<ZstdSource>(std::move(file));
  refuse_other_formats(head, path);
  return std::make_unique<PlainSource>(std::move(file));
}

}  // namespace jari
