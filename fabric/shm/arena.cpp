#include "fabric/shm/arena.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "fabric/realtime/available_memory.h"

namespace falafel::shm {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20U;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

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

Result<void> MappedArena::lay_over(const Overlay& overlay, const FileDescriptor& file) {
  struct stat status {};
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const bool is_within = overlay.begin % page_bytes == 0 &&
                         overlay.file_bytes <= overlay.range_bytes &&
                         contains(overlay.begin, overlay.range_bytes);
  if (!is_within || ::fstat(file.get(), &status) != 0 ||
      static_cast<std::uint64_t>(status.st_size) < overlay.file_bytes) {
    return make_error(ErrorCode::invalid_argument,
                      "the peer's kept memory is not within its shared memory, or its file is too "
                      "short; restart the peer");
  }
  // The range may consist of larger pages than the file.
  std::byte* const begin = at(overlay.begin);
  if (::mmap(begin, overlay.range_bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED ||
      ::mmap(begin, overlay.file_bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file.get(), 0) == MAP_FAILED) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("{} bytes of kept memory cannot be mapped: {}",
                                  overlay.file_bytes, std::strerror(errno)));
  }
  overlay_begin_.store(overlay.begin, std::memory_order_release);
  return {};
}

void MappedArena::remove_overlay(const Overlay& overlay) {
  overlay_begin_.store(0);
  void* const removed = ::mmap(at(overlay.begin), overlay.range_bytes, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  FALAFEL_ASSERT(removed != MAP_FAILED, "kept memory stays mapped: {}", std::strerror(errno));
}

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
                                               .life = 0,
                                               .kept_begin = 0,
                                               .kept_end = 0};
  arena->free_[first] = size_bytes - first;
  return arena;
}

std::uint64_t Arena::whole_pages(std::uint64_t size_bytes) const {
  return round_up(size_bytes, page_bytes_);
}

// Touching a page that the system cannot provide would kill the process, so populate() requests it
// first.
bool Arena::populate(std::uint64_t offset, std::uint64_t size_bytes) const {
  if (page_bytes_ != huge_page_bytes && !fabric::has_available_memory(size_bytes)) return false;
  int result = 0;
  do {
    result =
        ::fallocate(file_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(size_bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

// The last memory of the system is for those who cannot be refused any.
Result<void> Arena::commit(std::uint64_t offset, std::uint64_t size_bytes) const {
  const bool leaves_some =
      page_bytes_ == huge_page_bytes ||
      fabric::has_available_memory(size_bytes + fabric::memory_left_to_others_bytes);
  if (leaves_some && populate(offset, size_bytes)) return {};
  return make_error(ErrorCode::out_of_memory,
                    fmt::format("the system has no {} bytes of memory left", size_bytes));
}

void Arena::give_back_pages(std::uint64_t offset, std::uint64_t size_bytes) const {
  const std::uint64_t begin = round_up(offset, page_bytes_);
  const std::uint64_t end = (offset + size_bytes) / page_bytes_ * page_bytes_;
  if (begin < end) punch_hole(begin, end - begin);
}

void Arena::punch_hole(std::uint64_t offset, std::uint64_t length_bytes) const {
  const int result = ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                 static_cast<off_t>(offset), static_cast<off_t>(length_bytes));
  FALAFEL_ASSERT(result == 0, "the system does not take back the memory at {}: {}", offset,
                 std::strerror(errno));
}

Result<std::uint64_t> Arena::allocate(std::uint64_t size_bytes, Pages pages) {
  const auto refuse = [&](std::string_view why) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("{} bytes of shared memory: {}", size_bytes, why));
  };
  if (size_bytes > mapping_->size_bytes()) return refuse("over the memory limit of the process");
  const std::uint64_t wanted = whole_pages(size_bytes);
  const std::lock_guard lock(mutex_);
  const auto range = find_free(wanted);
  if (range == free_.end()) return refuse("over the memory limit of the process");
  if (pages == Pages::populated && !populate(range->first, wanted)) {
    return refuse("the system has too little memory left");
  }
  return take_from(range, wanted);
}

Arena::Ranges::iterator Arena::find_free(std::uint64_t size_bytes) {
  return std::ranges::find_if(free_, [=](const auto& range) { return range.second >= size_bytes; });
}

std::uint64_t Arena::take_from(Ranges::iterator free, std::uint64_t size_bytes) {
  const std::uint64_t found = free->first;
  auto range = free_.extract(free);
  range.key() += size_bytes;
  range.mapped() -= size_bytes;
  if (range.mapped() > 0) free_.insert(std::move(range));
  return found;
}

Result<Overlay> Arena::lay_over(const FileDescriptor& file, std::uint64_t file_bytes) {
  const std::lock_guard lock(mutex_);
  ArenaHeader& header = mapping_->header();
  if (header.kept_begin.load() != 0) {
    return make_error(ErrorCode::unsupported,
                      "this process keeps memory already; keep further memory in another process");
  }
  const std::uint64_t wanted = whole_pages(file_bytes);
  const auto range = find_free(wanted);
  if (range == free_.end()) {
    return make_error(
        ErrorCode::out_of_memory,
        fmt::format("{} bytes of kept memory: over the memory limit of the process", file_bytes));
  }
  const Overlay overlay{
      .begin = take_from(range, wanted), .range_bytes = wanted, .file_bytes = file_bytes};
  if (auto laid = mapping_->lay_over(overlay, file); !laid) return tl::unexpected(laid.error());
  header.kept_end.store(overlay.begin + overlay.range_bytes);
  header.kept_begin.store(overlay.begin);
  return overlay;
}

void Arena::remove(const Overlay& overlay) noexcept {
  mapping_->remove_overlay(overlay);
  const std::lock_guard lock(mutex_);
  mapping_->header().kept_begin.store(0);
  mapping_->header().kept_end.store(0);
}

// Returns the pages to the system, which makes them zero for the next allocation.
void Arena::release(std::uint64_t offset, std::uint64_t size_bytes) noexcept {
  const std::uint64_t length = whole_pages(size_bytes);
  FALAFEL_ASSERT(
      offset % page_bytes_ == 0 && offset >= fixed_part_bytes && mapping_->contains(offset, length),
      "released {} bytes at {} of {} bytes of shared memory", length, offset,
      mapping_->size_bytes());
  punch_hole(offset, length);
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
