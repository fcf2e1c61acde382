#include "framework/table/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "framework/base/error.hpp"

namespace jari {
namespace {

constexpr std::size_t kBlock = 1 << 18;

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

}  // namespace

struct OutputFile::Deflater {
  z_stream stream{};
  std::string packed = std::string(kBlock, '\0');

  Deflater() {
    constexpr int kGzip = 15 + 16, kMemory = 8;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
      throw StoreError("zlib can not start");
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  bool write(int descriptor, std::string_view bytes, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream.avail_out = static_cast<uInt>(packed.size());
      deflate(&stream, flush);
      if (!write_all(descriptor, std::string_view(packed).substr(0, packed.size() - stream.avail_out))) return false;
    } while (stream.avail_out == 0);
    return true;
  }
};

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  if (std::filesystem::is_directory(path_))
    throw StoreError(fmt::format("{}: is a folder; name a file in it", path_.string()));
  temporary_ = path_;
  temporary_ += fmt::format(".tmp-{}", ::getpid());
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail();
  if (path_.extension() == ".gz") deflater_ = std::make_unique<Deflater>();
  buffer_.reserve(2 * kBlock);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kBlock);
    buffer_ += part;
    bytes.remove_prefix(part.size());
    if (buffer_.size() < kBlock) continue;
    const bool ok = deflater_ ? deflater_->write(descriptor_, buffer_, Z_NO_FLUSH) : write_all(descriptor_, buffer_);
    if (!ok) fail();
    buffer_.clear();
  }
}

void OutputFile::commit() {
  const bool ok = deflater_ ? deflater_->write(descriptor_, buffer_, Z_FINISH) : write_all(descriptor_, buffer_);
  if (!ok || ::fsync(descriptor_) != 0) fail();
  ::close(std::exchange(descriptor_, -1));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary_.c_str());
    errno = reason;
    fail();
  }
}

void OutputFile::fail() const {
  const char* advice = errno == ENOENT ? "; make its folder first, or correct the path" : "";
  throw StoreError(fmt::format("{}: can not be written: {}{}", path_.string(), std::strerror(errno), advice));
}

}  // namespace jari
