// Memory that a program gets from mmap comes from the heap, so the simulator has it at the same
// address, and it can be registered. Files, fixed addresses and programs' own code stay with the
// system.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "simulated_verbs/unmodified/program_side/connection.h"

namespace falafel::simulated_verbs {

namespace {

struct Mapping {
  void* begin;
  std::size_t bytes;
  Mapping* next;
};

// A thread runs alone until its next call, so this needs no lock.
Mapping* mappings = nullptr;

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

bool comes_from_heap(const void* address, int protection, int flags) {
  return (flags & MAP_ANONYMOUS) != 0 && (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) == 0 &&
         (protection & PROT_EXEC) == 0 && address == nullptr;
}

// Null if the heap has no room.
void* map_heap(std::size_t bytes, int protection) {
  auto* const mapping = static_cast<Mapping*>(std::malloc(sizeof(Mapping)));
  if (mapping == nullptr) return nullptr;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mapping->bytes = whole_pages(bytes);
  mapping->begin = std::aligned_alloc(page, mapping->bytes);
  if (mapping->begin == nullptr) {
    std::free(mapping);
    return nullptr;
  }
  // The heap does not use larger blocks again, and fresh ones are zero.
  constexpr std::size_t largest_reused_bytes = std::size_t{1} << 20U;
  if (mapping->bytes <= largest_reused_bytes) std::memset(mapping->begin, 0, mapping->bytes);
  if (protection != (PROT_READ | PROT_WRITE)) mprotect(mapping->begin, mapping->bytes, protection);
  mapping->next = mappings;
  mappings = mapping;
  return mapping->begin;
}

bool is_within(const Mapping& mapping, const void* address) {
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping.begin);
  const auto asked = reinterpret_cast<std::uintptr_t>(address);
  return begin <= asked && asked < begin + mapping.bytes;
}

void free_mapping(Mapping** place) {
  Mapping* const mapping = *place;
  *place = mapping->next;
  mprotect(mapping->begin, mapping->bytes, PROT_READ | PROT_WRITE);
  std::free(mapping->begin);
  std::free(mapping);
}

bool is_from_heap(const void* address) {
  for (const Mapping* mapping = mappings; mapping != nullptr; mapping = mapping->next) {
    if (is_within(*mapping, address)) return true;
  }
  return false;
}

}  // namespace
}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

FALAFEL_EXPORTED void* mmap(void* address, std::size_t bytes, int protection, int flags,
                            int descriptor, off_t offset) {
  if (bytes > 0 && comes_from_heap(address, protection, flags)) {
    void* const memory = map_heap(bytes, protection);
    if (memory != nullptr) return memory;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the system gives an address.
  return reinterpret_cast<void*>(system_call(
      SYS_mmap, reinterpret_cast<Word>(address), bytes, static_cast<Word>(protection),
      static_cast<Word>(flags), static_cast<Word>(descriptor), static_cast<Word>(offset)));
}

FALAFEL_EXPORTED void* mmap64(void* address, std::size_t bytes, int protection, int flags,
                              int descriptor, off_t offset) {
  return mmap(address, bytes, protection, flags, descriptor, offset);
}

// A part that is given back stays.
FALAFEL_EXPORTED int munmap(void* address, std::size_t bytes) {
  for (Mapping** place = &mappings; *place != nullptr; place = &(*place)->next) {
    if (!is_within(**place, address)) continue;
    if ((*place)->begin == address && (*place)->bytes == whole_pages(bytes)) free_mapping(place);
    return 0;
  }
  return static_cast<int>(
      system_call(SYS_munmap, reinterpret_cast<Word>(address), bytes, 0, 0, 0, 0));
}

// Pages of private memory are zero after MADV_DONTNEED. Those of the heap are shared with the
// simulator, and MADV_REMOVE has this effect on them.
FALAFEL_EXPORTED int madvise(void* address, std::size_t bytes, int advice) {
  const bool is_given_back = advice == MADV_DONTNEED && is_from_heap(address);
  return static_cast<int>(system_call(SYS_madvise, reinterpret_cast<Word>(address), bytes,
                                      static_cast<Word>(is_given_back ? MADV_REMOVE : advice), 0, 0,
                                      0));
}

}  // extern "C"
