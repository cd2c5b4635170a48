// The C library's functions that copy, fill and compare memory. Compilers announce no access of
// theirs.
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "simulated_verbs/announced_accesses.h"
#include "simulated_verbs/system_call.h"

namespace falafel::simulated_verbs {

namespace {

bool is_within(const MemoryRegion* region, const void* address, std::size_t bytes) {
  return region != nullptr && region->clamp(address, bytes) == bytes;
}

// The content that the thread sees there.
std::vector<std::byte> seen_at(const void* address, std::size_t bytes) {
  const MemoryRegion* const region = region_at(address);
  if (is_within(region, address, bytes)) {
    const LibraryCall call("a load");
    const std::span<const std::byte> seen =
        call.thread().plain_accesses().load(*region, address, bytes);
    return {seen.begin(), seen.end()};
  }
  const std::span<const std::byte> memory = as_buffer(address, bytes);
  return {memory.begin(), memory.end()};
}

bool are_registered(const void* left, const void* right) {
  return region_at(left) != nullptr || region_at(right) != nullptr;
}

}  // namespace
}  // namespace falafel::simulated_verbs

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);
int __real_memcmp(const void* left, const void* right, std::size_t bytes);

void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || !are_registered(to, from)) return __real_memmove(to, from, bytes);
  const std::vector<std::byte> seen = seen_at(from, bytes);
  const MemoryRegion* const region = region_at(to);
  if (!is_within(region, to, bytes)) return __real_memmove(to, seen.data(), bytes);
  const LibraryCall call("a store");
  PlainAccesses::store(*region, to, seen);
  return to;
}

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || !are_registered(to, from)) return __real_memcpy(to, from, bytes);
  return __wrap_memmove(to, from, bytes);
}

void* __wrap_memset(void* to, int value, std::size_t bytes) {
  const MemoryRegion* const region = bytes == 0 ? nullptr : region_at(to);
  if (!is_within(region, to, bytes)) return __real_memset(to, value, bytes);
  const LibraryCall call("a store");
  PlainAccesses::store(*region, to, std::vector(bytes, static_cast<std::byte>(value)));
  return to;
}

int __wrap_memcmp(const void* left, const void* right, std::size_t bytes) {
  if (bytes == 0 || !are_registered(left, right)) return __real_memcmp(left, right, bytes);
  const std::vector<std::byte> seen_left = seen_at(left, bytes);
  const std::vector<std::byte> seen_right = seen_at(right, bytes);
  return __real_memcmp(seen_left.data(), seen_right.data(), bytes);
}

// Newer versions of clang call these.
// NOLINTBEGIN(bugprone-reserved-identifier)
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  return __wrap_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  return __wrap_memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  return __wrap_memset(to, value, bytes);
}
// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"

// NOLINTEND(readability-identifier-naming)
