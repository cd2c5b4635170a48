#include "fabric/realtime/kept_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "fabric/realtime/available_memory.h"

namespace falafel::fabric {
namespace {

constexpr std::uint64_t magic_of_complete_file = 0x5f1e'93c8'4b70'26ad;
constexpr std::uint64_t magic_of_file_in_the_making = 0xa24d'086b'71f5'c39e;
constexpr std::uint32_t version = 1;
constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t most_block_bytes = std::numeric_limits<std::int64_t>::max() / 2;

struct Header {
  std::uint64_t magic = magic_of_file_in_the_making;
  std::uint32_t version = 1;
  std::uint32_t reserved = 0;
  std::uint64_t block_offset = KeptFile::block_offset;
  std::uint64_t block_bytes = 0;
};

std::uint64_t file_bytes_for(std::uint64_t block_bytes) {
  return KeptFile::block_offset + (block_bytes + page_bytes - 1) / page_bytes * page_bytes;
}

tl::unexpected<Error> refuse(ErrorCode code, const std::string& path, std::string_view why) {
  return make_error(code, fmt::format("'{}' {}", path, why));
}

tl::unexpected<Error> refuse_to_open(const std::string& path, int error) {
  switch (error) {
    case ELOOP:
      return refuse(ErrorCode::access_denied, path, "is a symbolic link; name the file itself");
    case EISDIR:
    case ENXIO:
      return refuse(ErrorCode::invalid_argument, path,
                    "is not a regular file; name a file, which need not exist yet");
    case ENOENT:
    case ENOTDIR:
      return refuse(ErrorCode::invalid_argument, path,
                    "is in a directory that does not exist; make the directory first");
    case EACCES:
    case EPERM:
    case EROFS:
      return refuse(ErrorCode::access_denied, path,
                    fmt::format("cannot be opened: {}; choose a file that this user may write to",
                                std::strerror(error)));
    default:
      return refuse(ErrorCode::invalid_argument, path,
                    fmt::format("cannot be opened: {}", std::strerror(error)));
  }
}

tl::unexpected<Error> refuse_for_space(const std::string& path, std::uint64_t size_bytes,
                                       int error) {
  if (error == EOPNOTSUPP || error == EINVAL || error == ENODEV) {
    return refuse(ErrorCode::unsupported, path,
                  fmt::format("is on a file system that cannot hold memory: {}; choose one such as "
                              "tmpfs (/dev/shm), ext4 or xfs",
                              std::strerror(error)));
  }
  return refuse(ErrorCode::out_of_memory, path,
                fmt::format("cannot have {} bytes: {}; free space there, or choose another file "
                            "system",
                            size_bytes, std::strerror(error)));
}

// Checks that it is a file that no other user can change.
Result<void> check_owner(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return refuse_to_open(path, EISDIR);
  if (status.st_uid != ::geteuid()) {
    return refuse(ErrorCode::access_denied, path,
                  fmt::format("belongs to user {}, not to this one ({}); run as its owner, or "
                              "choose another file",
                              status.st_uid, ::geteuid()));
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return refuse(ErrorCode::access_denied, path,
                  fmt::format("is open to other users (mode {:o}); use: chmod 600 '{}'",
                              status.st_mode & 07777U, path));
  }
  return {};
}

enum class Condition { counts_as_new, complete };

// Reads the header of a file that may be anything.
Result<Condition> check_header(const std::string& path, int descriptor,
                               std::uint64_t& block_bytes) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return refuse_to_open(path, errno);
  if (auto checked = check_owner(path, status); !checked) return tl::unexpected(checked.error());
  if (status.st_size == 0) return Condition::counts_as_new;
  Header header;
  const bool has_header =
      ::pread(descriptor, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header);
  if (has_header && header.magic == magic_of_file_in_the_making) return Condition::counts_as_new;
  if (!has_header || header.magic != magic_of_complete_file) {
    return refuse(ErrorCode::invalid_argument, path,
                  "holds something else than memory of this program; choose another file, or "
                  "remove it if nobody needs it");
  }
  if (header.version != version) {
    return refuse(ErrorCode::invalid_argument, path,
                  fmt::format("has version {} of this kind of file, not {}; use the release that "
                              "made it, or remove it",
                              header.version, version));
  }
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  const bool is_plausible = header.reserved == 0 && header.block_offset == KeptFile::block_offset &&
                            header.block_bytes > 0 && header.block_bytes <= most_block_bytes;
  if (!is_plausible || size_bytes != file_bytes_for(header.block_bytes)) {
    return refuse(ErrorCode::invalid_argument, path,
                  fmt::format("is damaged: it has {} bytes, and its header describes memory of {} "
                              "bytes; restore it from a copy, or remove it to begin anew",
                              size_bytes, header.block_bytes));
  }
  block_bytes = header.block_bytes;
  return Condition::complete;
}

int open_existing(const std::string& path, int mode) {
  return ::open(path.c_str(), mode | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

// Gives the range memory, so nobody finds later that the file system is full. Returns the error.
int take_space(int descriptor, std::uint64_t offset, std::uint64_t size_bytes) {
  int result = 0;
  do {
    result = ::fallocate(descriptor, 0, static_cast<off_t>(offset), static_cast<off_t>(size_bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

bool write_header(int descriptor, const Header& header) {
  std::array<std::byte, page_bytes> page{};
  std::memcpy(page.data(), &header, sizeof header);
  return ::pwrite(descriptor, page.data(), page.size(), 0) == static_cast<ssize_t>(page.size());
}

bool can_be_mapped(int descriptor) {
  void* const page = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return page != MAP_FAILED && ::munmap(page, page_bytes) == 0;
}

}  // namespace

std::uint64_t KeptFile::size_bytes() const { return file_bytes_for(block_bytes_); }

// Opens the file, which becomes this process's alone.
Result<void> KeptFile::lock(bool& made) {
  for (;;) {
    made = false;
    lock_ = FileDescriptor(open_existing(path_, O_RDWR));
    if (!lock_.is_open() && errno == ENOENT) {
      lock_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      if (!lock_.is_open() && errno == EEXIST) continue;
      made = lock_.is_open();
    }
    if (!lock_.is_open()) return refuse_to_open(path_, errno);
    struct stat status {};
    if (::fstat(lock_.get(), &status) != 0) return refuse_to_open(path_, errno);
    if (auto checked = check_owner(path_, status); !checked) return checked;
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return refuse_for_space(path_, size_bytes(), EOPNOTSUPP);
      return refuse(ErrorCode::address_in_use, path_,
                    "is the memory of a process that is still running; stop it, or choose another "
                    "file");
    }
    // Somebody may have removed the file after it was opened here.
    if (::fstat(lock_.get(), &status) == 0 && status.st_nlink > 0) return {};
  }
}

// The file says that it is in the making before it has any size.
Result<void> KeptFile::make() {
  const Header header{.block_bytes = block_bytes_};
  const std::uint64_t total_bytes = size_bytes();
  if (::ftruncate(lock_.get(), 0) != 0 || !write_header(lock_.get(), header) ||
      ::ftruncate(lock_.get(), static_cast<off_t>(total_bytes)) != 0) {
    return refuse_for_space(path_, total_bytes, errno);
  }
  if (!can_be_mapped(lock_.get())) return refuse_for_space(path_, total_bytes, errno);
  if (space_ == Space::reserved) {
    is_new_ = true;
    return {};
  }
  const std::uint64_t space_bytes = total_bytes - block_offset;
  int error = take_space(lock_.get(), block_offset, space_bytes);
  if (error == EOPNOTSUPP) {
    error = ::posix_fallocate(lock_.get(), block_offset, static_cast<off_t>(space_bytes));
  }
  if (error != 0) return refuse_for_space(path_, total_bytes, error);
  is_new_ = true;
  return {};
}

Result<std::byte*> KeptFile::map_block() const {
  void* const address =
      ::mmap(nullptr, block_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), block_offset);
  if (address != MAP_FAILED) return static_cast<std::byte*>(address);
  return refuse(
      ErrorCode::out_of_memory, path_,
      fmt::format("cannot be mapped with {} bytes: {}", block_bytes_, std::strerror(errno)));
}

bool KeptFile::is_in_memory() const {
  struct statfs status {};
  return ::fstatfs(file_.get(), &status) == 0 && status.f_type == TMPFS_MAGIC;
}

Result<void> KeptFile::complete() {
  if (!is_new_) return {};
  constexpr std::uint64_t magic = magic_of_complete_file;
  if (::pwrite(lock_.get(), &magic, sizeof magic, 0) == static_cast<ssize_t>(sizeof magic)) {
    return {};
  }
  return refuse_for_space(path_, size_bytes(), errno);
}

// A copy of the file may have holes, for which there may be no space later.
Result<void> KeptFile::accept() {
  if (!can_be_mapped(lock_.get())) return refuse_for_space(path_, size_bytes(), errno);
  if (space_ == Space::reserved) return {};
  const int error = take_space(lock_.get(), block_offset, size_bytes() - block_offset);
  if (error != 0 && error != EOPNOTSUPP) return refuse_for_space(path_, size_bytes(), error);
  return {};
}

Result<void> KeptFile::commit(std::uint64_t offset, std::uint64_t length_bytes) const {
  const bool leaves_some =
      !is_in_memory() || has_available_memory(length_bytes + memory_left_to_others_bytes);
  const int error =
      leaves_some ? take_space(file_.get(), block_offset + offset, length_bytes) : ENOMEM;
  if (error != 0) return refuse_for_space(path_, length_bytes, error);
  return {};
}

// On these file systems, a hole that is read is zeros of the page cache. On others it may be a page
// of tmpfs below.
bool KeptFile::reads_holes_without_space() const {
  struct statfs status {};
  return ::fstatfs(file_.get(), &status) == 0 &&
         (status.f_type == EXT4_SUPER_MAGIC || status.f_type == XFS_SUPER_MAGIC);
}

// The space stays in the file if the system refuses.
void KeptFile::release(std::uint64_t offset, std::uint64_t length_bytes) const {
  const std::uint64_t begin = (block_offset + offset + page_bytes - 1) / page_bytes * page_bytes;
  const std::uint64_t end = (block_offset + offset + length_bytes) / page_bytes * page_bytes;
  if (begin >= end || !reads_holes_without_space()) return;
  static_cast<void>(::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(begin), static_cast<off_t>(end - begin)));
}

Result<KeptFile> KeptFile::open(const std::string& path, std::uint64_t size_bytes, Space space) {
  if (size_bytes > most_block_bytes) {
    return refuse(ErrorCode::out_of_memory, path,
                  fmt::format("cannot have {} bytes; no file is that large", size_bytes));
  }
  KeptFile kept(path, size_bytes, space);
  bool made = false;
  if (auto locked = kept.lock(made); !locked) return tl::unexpected(locked.error());
  std::uint64_t block_bytes = 0;
  const auto condition = check_header(path, kept.lock_.get(), block_bytes);
  if (!condition) return tl::unexpected(condition.error());
  if (*condition == Condition::complete && block_bytes != size_bytes) {
    return refuse(ErrorCode::invalid_argument, path,
                  fmt::format("holds memory of {} bytes, not of {}; ask for that size, or choose "
                              "another file",
                              block_bytes, size_bytes));
  }
  const auto ready = *condition == Condition::complete ? kept.accept() : kept.make();
  if (!ready) {
    if (made) {
      ::unlink(path.c_str());
    } else if (*condition == Condition::counts_as_new) {
      static_cast<void>(::ftruncate(kept.lock_.get(), 0));
    }
    return tl::unexpected(ready.error());
  }
  const std::string again = fmt::format("/proc/self/fd/{}", kept.lock_.get());
  kept.file_ = FileDescriptor(::open(again.c_str(), O_RDWR | O_CLOEXEC));
  if (!kept.file_.is_open()) return refuse_to_open(path, errno);
  return kept;
}

Result<std::optional<KeptFileContent>> examine_kept_file(const std::string& path,
                                                         std::span<std::byte> first_bytes) {
  const FileDescriptor file(open_existing(path, O_RDONLY));
  if (!file.is_open()) {
    if (errno == ENOENT) return std::nullopt;
    return refuse_to_open(path, errno);
  }
  KeptFileContent content;
  struct stat status {};
  const auto condition = check_header(path, file.get(), content.block_bytes);
  if (!condition) return tl::unexpected(condition.error());
  if (*condition == Condition::counts_as_new) return std::nullopt;
  if (::pread(file.get(), first_bytes.data(), first_bytes.size(), KeptFile::block_offset) !=
      static_cast<ssize_t>(first_bytes.size())) {
    return refuse(ErrorCode::invalid_argument, path, "is too short for what it has to hold");
  }
  constexpr std::uint64_t unit_of_blocks_bytes = 512;
  content.has_holes =
      ::fstat(file.get(), &status) == 0 &&
      static_cast<std::uint64_t>(status.st_blocks) * unit_of_blocks_bytes < content.block_bytes;
  return content;
}

}  // namespace falafel::fabric
