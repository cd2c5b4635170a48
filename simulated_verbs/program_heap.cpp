#include "simulated_verbs/program_heap.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include "fabric/assert.h"

namespace falafel::simulated_verbs {

namespace {

// Far from where the system puts programs, libraries, stacks and mappings.
constexpr std::uint64_t first_address = 0x2000'0000'0000;
// Larger blocks are not used again after they have been freed.
constexpr std::size_t largest_reused_bytes = std::size_t{1} << 20U;

int create_file() {
  const int descriptor = memfd_create("heap", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, ProgramHeap::size_bytes) != 0) {
    throw std::system_error(errno, std::generic_category(), "the heap of a simulated process");
  }
  return descriptor;
}

}  // namespace

ProgramHeap::Mapping::Mapping(std::uint32_t number, bool is_shared)
    : descriptor(is_shared ? create_file() : -1) {
  const std::uint64_t address = first_address + number * std::uint64_t{size_bytes};
  // An address and not an object: the system maps fresh memory there.
  void* const wanted = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  void* const mapped = mmap(
      wanted, size_bytes, PROT_READ | PROT_WRITE,
      (is_shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS) | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
      descriptor, 0);
  if (mapped == MAP_FAILED) {
    throw std::runtime_error(
        fmt::format("the heap of a simulated process cannot be mapped at {:#x}; run one world of "
                    "verbs programs at a time in each process",
                    address));
  }
  begin = static_cast<std::byte*>(mapped);
}

ProgramHeap::Mapping::~Mapping() {
  munmap(begin, size_bytes);
  if (descriptor >= 0) ::close(descriptor);
}

ProgramHeap::ProgramHeap(std::uint32_t number, bool is_shared)
    : number_(number),
      mapping_(number, is_shared),
      pages_(mapping_.begin, size_bytes, std::pmr::null_memory_resource()),
      pools_({.max_blocks_per_chunk = 0, .largest_required_pool_block = largest_reused_bytes},
             &pages_) {}

ProgramHeap::~ProgramHeap() = default;

void* ProgramHeap::allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t whole_alignment = std::max(alignment, alignof(Header));
  // The header is directly in front of the memory, however far that is aligned.
  const std::size_t before_bytes = std::max(sizeof(Header), whole_alignment);
  if (bytes > size_bytes - before_bytes) return nullptr;
  const std::size_t whole_bytes = before_bytes + bytes;
  try {
    auto* const start = static_cast<std::byte*>(pools_.allocate(whole_bytes, whole_alignment));
    std::byte* const memory = start + before_bytes;
    new (memory - sizeof(Header)) Header{
        .bytes = bytes, .whole_bytes = whole_bytes, .alignment = whole_alignment, .start = start};
    return memory;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

ProgramHeap::Header& ProgramHeap::header_of(const void* memory) {
  auto* const bytes = static_cast<std::byte*>(const_cast<void*>(memory));
  return *reinterpret_cast<Header*>(bytes - sizeof(Header));
}

void ProgramHeap::free(void* memory) {
  FALAFEL_ASSERT(contains(memory), "memory of another heap is freed");
  const Header header = header_of(memory);
  pools_.deallocate(header.start, header.whole_bytes, header.alignment);
}

std::size_t ProgramHeap::size_of(const void* memory) const { return header_of(memory).bytes; }

bool ProgramHeap::contains(const void* memory) const {
  const auto* const bytes = static_cast<const std::byte*>(memory);
  return mapping_.begin <= bytes && bytes < mapping_.begin + size_bytes;
}

}  // namespace falafel::simulated_verbs
