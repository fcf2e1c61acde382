#include "framework/store/hdf5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/store/hdf5_internal.hpp"
#include "framework/store/system_calls.hpp"

namespace jari {
namespace hdf5 {

std::unique_lock<std::recursive_mutex> lock_library() {
  static std::recursive_mutex mutex;
  std::unique_lock lock(mutex);
  [[maybe_unused]] thread_local const herr_t silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return lock;
}

void fail_because(const std::filesystem::path& path, const std::string& object, const std::string& action,
                  const std::string& reason) {
  throw StoreError(fmt::format(
      "{}: {}can not {}: {}; if the file is damaged, remove it and run again, or rebuild it with 'jari repair'",
      path.string(), object.empty() ? "" : object + ": ", action, reason));
}

void fail(const std::filesystem::path& path, const std::string& object, const std::string& action) {
  std::string reason;
  const auto take_first = [](unsigned, const H5E_error2_t* error, void* text) -> herr_t {
    auto& first = *static_cast<std::string*>(text);
    if (first.empty() && error->desc != nullptr) first = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
  fail_because(path, object, action, reason.empty() ? "HDF5 gives no reason" : reason);
}

std::string absolute(const std::string& object) {
  return !object.empty() && object.front() == '/' ? object : "/" + object;
}

}  // namespace hdf5

namespace {

using hdf5::Handle;

// Groups remember the order in which their members were made: metrics and analyses are listed as the spec has them.
constexpr unsigned kOrder = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

void track_order(const Handle& properties) {
  H5Pset_link_creation_order(properties.id(), kOrder);
  H5Pset_attr_creation_order(properties.id(), kOrder);
}

// The H5Lexists of a path needs all its parents to exist.
bool link_exists(hid_t file, const std::string& path) {
  for (std::size_t end = path.find('/', 1); path.size() > 1; end = path.find('/', end + 1)) {
    if (H5Lexists(file, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) break;
  }
  return true;
}

bool names_group(hid_t file, const std::string& path) {
  const Handle object(H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose);
  return object && H5Iget_type(object.id()) == H5I_GROUP;
}

// Names of a group's members, in the order in which they were made, where the group knows it.
std::vector<std::string> members(const std::filesystem::path& path, const std::string& group, const Handle& handle) {
  std::vector<std::string> names;
  const Handle creation(H5Gget_create_plist(handle.id()), H5Pclose);
  unsigned order = 0;
  H5Pget_link_creation_order(creation.id(), &order);
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* all) -> herr_t {
    static_cast<std::vector<std::string>*>(all)->emplace_back(name);
    return 0;
  };
  const H5_index_t index = (order & H5P_CRT_ORDER_INDEXED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  if (H5Literate(handle.id(), index, H5_ITER_INC, nullptr, add, &names) < 0) hdf5::fail(path, group, "list the group");
  return names;
}

using Visit = std::function<void(const std::string& name, const Handle& object)>;

void visit_below(const std::filesystem::path& path, const std::string& group, const Handle& handle,
                 const std::string& prefix, const Visit& visit) {
  for (const std::string& name : members(path, group, handle)) {
    const Handle object(H5Oopen(handle.id(), name.c_str(), H5P_DEFAULT), H5Oclose);
    if (object && H5Iget_type(object.id()) == H5I_GROUP)
      visit_below(path, group + "/" + name, object, prefix + name + "/", visit);
    else
      visit(prefix + name, object);
  }
}

// The last line of a saved file: "\njari-xxh3-64:0123456789abcdef\n", over all bytes before it.
constexpr std::string_view kTrailerKey = "\njari-xxh3-64:";
constexpr std::size_t kTrailerSize = kTrailerKey.size() + 16 + 1;

std::string trailer_of(std::string_view image) { return fmt::format("{}{:016x}\n", kTrailerKey, hash64(image)); }

std::string read_bytes(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) throw_system_error(path, "read", EISDIR);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw_system_error(path, "read", errno);
  std::string bytes(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) throw_system_error(path, "read", EIO);
  return bytes;
}

void verify_checksum(const std::filesystem::path& path, Hdf5File::Checksum checksum) {
  const std::string bytes = read_bytes(path);
  const std::size_t size = bytes.size() - std::min(bytes.size(), kTrailerSize);
  const std::string_view image = std::string_view(bytes).substr(0, size),
                         trailer = std::string_view(bytes).substr(size);
  if (!trailer.starts_with(kTrailerKey)) {
    if (checksum == Hdf5File::Checksum::must_be_there)
      hdf5::fail_because(path, "", "read", "it has no checksum at its end");
  } else if (trailer != trailer_of(image)) {
    hdf5::fail_because(path, "", "read", "its checksum does not match");
  }
}

}  // namespace

void hdf5::visit_arrays(const std::filesystem::path& path, std::int64_t file, const std::string& group,
                        const Visit& visit) {
  if (!link_exists(file, group) || !names_group(file, group)) return;
  const Handle handle(H5Gopen2(file, group.c_str(), H5P_DEFAULT), H5Gclose);
  visit_below(path, group, handle, "", visit);
}

Hdf5File::Hdf5File(std::unique_ptr<State> state) : state_(std::move(state)) {}

Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;

Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  const auto lock = hdf5::lock_library();
  state_ = std::move(other.state_);
  return *this;
}

Hdf5File::~Hdf5File() {
  const auto lock = hdf5::lock_library();
  state_.reset();
}

const std::filesystem::path& Hdf5File::path() const { return state_->path; }

Hdf5File Hdf5File::create(const std::filesystem::path& path) {
  const auto lock = hdf5::lock_library();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  constexpr std::size_t growth = std::size_t{1} << 20;
  H5Pset_fapl_core(access.id(), growth, /*backing_store=*/0);
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  track_order(creation);
  auto state = std::make_unique<State>();
  state->path = path;
  state->file = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
  if (!state->file) hdf5::fail(path, "", "make an HDF5 file in memory");
  return Hdf5File(std::move(state));
}

Hdf5File Hdf5File::open(const std::filesystem::path& path, Checksum checksum) {
  verify_checksum(path, checksum);
  const auto lock = hdf5::lock_library();
  if (H5Fis_hdf5(path.c_str()) <= 0) hdf5::fail_because(path, "", "read", "it is not an HDF5 file");
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Our files are renamed into place and never changed, so readers need no lock, which network file systems often lack.
  H5Pset_file_locking(access.id(), /*use=*/0, /*ignore_when_disabled=*/1);
  H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
  auto state = std::make_unique<State>();
  state->path = path;
  state->file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!state->file) hdf5::fail(path, "", "read");
  return Hdf5File(std::move(state));
}

void Hdf5File::save_to(AtomicFile& file) {
  const auto lock = hdf5::lock_library();
  const hid_t id = state_->file.id();
  if (H5Fflush(id, H5F_SCOPE_LOCAL) < 0) hdf5::fail(path(), "", "finish the HDF5 file");
  const ssize_t size = H5Fget_file_image(id, nullptr, 0);
  if (size < 0) hdf5::fail(path(), "", "finish the HDF5 file");
  std::string image(static_cast<std::size_t>(size), '\0');
  if (H5Fget_file_image(id, image.data(), image.size()) < 0) hdf5::fail(path(), "", "finish the HDF5 file");
  file.write(image);
  file.write(trailer_of(image));
}

void Hdf5File::save() {
  AtomicFile file(path());
  save_to(file);
  file.commit();
}

bool Hdf5File::exists(const std::string& object) const {
  const auto lock = hdf5::lock_library();
  return link_exists(state_->file.id(), hdf5::absolute(object));
}

bool Hdf5File::is_group(const std::string& object) const {
  const auto lock = hdf5::lock_library();
  return exists(object) && names_group(state_->file.id(), hdf5::absolute(object));
}

std::vector<std::string> Hdf5File::children(const std::string& group) const {
  const auto lock = hdf5::lock_library();
  if (!is_group(group)) return {};
  const std::string full = hdf5::absolute(group);
  const Handle handle(H5Gopen2(state_->file.id(), full.c_str(), H5P_DEFAULT), H5Gclose);
  return members(path(), full, handle);
}

std::vector<std::string> Hdf5File::arrays_below(const std::string& group) const {
  const auto lock = hdf5::lock_library();
  std::vector<std::string> found;
  hdf5::visit_arrays(path(), state_->file.id(), hdf5::absolute(group),
                     [&](const std::string& name, const Handle&) { found.push_back(name); });
  return found;
}

void Hdf5File::make_group(const std::string& group) {
  const auto lock = hdf5::lock_library();
  const std::string full = hdf5::absolute(group);
  const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  track_order(creation);
  for (std::size_t end = full.find('/', 1); full.size() > 1; end = full.find('/', end + 1)) {
    const std::string part = full.substr(0, end);
    if (H5Lexists(state_->file.id(), part.c_str(), H5P_DEFAULT) <= 0) {
      const Handle made(H5Gcreate2(state_->file.id(), part.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose);
      if (!made) hdf5::fail(path(), part, "make the group");
    } else if (!names_group(state_->file.id(), part)) {
      hdf5::fail_because(path(), full, "make the group", part + " is an array, not a group");
    }
    if (end == std::string::npos) break;
  }
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace jari
