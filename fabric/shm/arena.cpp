#include "fabric/shm/arena.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace falafel::shm {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20U;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The memory that the system can provide without swapping; unlimited if the system does not tell.
std::uint64_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (std::uint64_t kibibytes = 0; file >> name >> kibibytes; file.ignore(64, '\n')) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    descriptor_ = other.release();
  }
  return *this;
}

int FileDescriptor::release() { return std::exchange(descriptor_, -1); }

void FileDescriptor::reset() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

Result<std::shared_ptr<MappedArena>> MappedArena::map(const FileDescriptor& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || status.st_size < static_cast<off_t>(fixed_part_bytes)) {
    return make_error(ErrorCode::invalid_argument,
                      "the peer's shared memory is too short to belong to this fabric");
  }
  // A process that accesses a page beyond the end of the file is killed. Seals are never removed.
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return make_error(
        ErrorCode::invalid_argument,
        "the peer can shrink its shared memory (it lacks the seal F_SEAL_SHRINK); use "
        "a peer of this version");
  }
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  void* base = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      file.get(), 0);
  if (base == MAP_FAILED) {
    return make_error(
        ErrorCode::out_of_memory,
        fmt::format("{} bytes of shared memory cannot be mapped: {}; lower the memory "
                    "limit of the processes, or raise that of the address space",
                    size_bytes, std::strerror(errno)));
  }
  return std::make_shared<MappedArena>(static_cast<std::byte*>(base), size_bytes);
}

MappedArena::~MappedArena() { ::munmap(base_, size_bytes_); }

Arena::Arena(FileDescriptor file, std::shared_ptr<MappedArena> mapping, std::uint64_t page_bytes)
    : file_(std::move(file)), mapping_(std::move(mapping)), page_bytes_(page_bytes) {}

Result<std::unique_ptr<Arena>> Arena::create(std::uint64_t limit_bytes, bool huge_pages,
                                             const ArenaId& id) {
  const std::uint64_t page_bytes =
      huge_pages ? huge_page_bytes : static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t first = round_up(fixed_part_bytes, page_bytes);
  const std::uint64_t size_bytes = round_up(first + limit_bytes, page_bytes);
  FileDescriptor file(::memfd_create(
      "falafel", MFD_CLOEXEC | MFD_ALLOW_SEALING | (huge_pages ? MFD_HUGETLB | MFD_HUGE_2MB : 0U)));
  if (!file.is_open() || ::ftruncate(file.get(), static_cast<off_t>(size_bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("cannot create a file of {} bytes in memory: {}{}", size_bytes,
                                  std::strerror(errno),
                                  huge_pages ? "; reserve huge pages (vm.nr_hugepages)" : ""));
  }
  auto mapping = MappedArena::map(file);
  if (!mapping) return tl::unexpected(mapping.error());
  std::unique_ptr<Arena> arena(new Arena(std::move(file), std::move(*mapping), page_bytes));
  if (!arena->populate(0, key_table_offset)) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("the system has no {} bytes of memory left{}", key_table_offset,
                                  huge_pages ? "; reserve huge pages (vm.nr_hugepages)" : ""));
  }
  new (&arena->mapping_->header()) ArenaHeader{.magic = layout_magic,
                                               .version = layout_version,
                                               .size_bytes = size_bytes,
                                               .id = id,
                                               .key_entries = 0,
                                               .life = 0};
  arena->free_[first] = size_bytes - first;
  return arena;
}

std::uint64_t Arena::whole_pages(std::uint64_t size_bytes) const {
  return round_up(size_bytes, page_bytes_);
}

// Touching a page that the system cannot provide would kill the process, so populate() requests it
// first.
bool Arena::populate(std::uint64_t offset, std::uint64_t size_bytes) const {
  if (page_bytes_ != huge_page_bytes && size_bytes > available_memory_bytes()) return false;
  int result = 0;
  do {
    result =
        ::fallocate(file_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(size_bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

Result<std::uint64_t> Arena::allocate(std::uint64_t size_bytes) {
  const auto refuse = [&](std::string_view why) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("{} bytes of shared memory: {}", size_bytes, why));
  };
  if (size_bytes > mapping_->size_bytes()) return refuse("over the memory limit of the process");
  const std::uint64_t wanted = whole_pages(size_bytes);
  const std::lock_guard lock(mutex_);
  for (const auto& [offset, free_bytes] : free_) {
    if (free_bytes < wanted) continue;
    if (!populate(offset, wanted)) return refuse("the system has too little memory left");
    const std::uint64_t found = offset;
    auto range = free_.extract(found);
    range.key() += wanted;
    range.mapped() -= wanted;
    if (range.mapped() > 0) free_.insert(std::move(range));
    return found;
  }
  return refuse("over the memory limit of the process");
}

// Returns the pages to the system, which makes them zero for the next allocation.
void Arena::release(std::uint64_t offset, std::uint64_t size_bytes) noexcept {
  const std::uint64_t length = whole_pages(size_bytes);
  FALAFEL_ASSERT(
      offset % page_bytes_ == 0 && offset >= fixed_part_bytes && mapping_->contains(offset, length),
      "released {} bytes at {} of {} bytes of shared memory", length, offset,
      mapping_->size_bytes());
  const int result = ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                 static_cast<off_t>(offset), static_cast<off_t>(length));
  FALAFEL_ASSERT(result == 0, "the system does not take back the memory at {}: {}", offset,
                 std::strerror(errno));
  const std::lock_guard lock(mutex_);
  try {
    add_free(offset, length);
  } catch (const std::bad_alloc&) {
    // The range has no memory, but it is not used again either.
  }
}

// Needs memory only for a range between two that are in use.
void Arena::add_free(std::uint64_t offset, std::uint64_t size_bytes) {
  const auto next = free_.lower_bound(offset);
  FALAFEL_ASSERT(next == free_.end() || offset + size_bytes <= next->first,
                 "{} bytes at {} were released twice", size_bytes, offset);
  auto merged = free_.end();
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    FALAFEL_ASSERT(previous->first + previous->second <= offset,
                   "{} bytes at {} were released twice", size_bytes, offset);
    if (previous->first + previous->second == offset) merged = previous;
  }
  const bool touches_next = next != free_.end() && offset + size_bytes == next->first;
  if (merged != free_.end()) {
    merged->second += size_bytes + (touches_next ? next->second : 0);
    if (touches_next) free_.erase(next);
  } else if (touches_next) {
    auto range = free_.extract(next);
    range.key() = offset;
    range.mapped() += size_bytes;
    free_.insert(std::move(range));
  } else {
    free_[offset] = size_bytes;
  }
}

}  // namespace falafel::shm
