#include "fabric/realtime/reserved_pages.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fabric/assert.h"
#include "fabric/realtime/available_memory.h"

namespace falafel::fabric {
namespace {

std::uint64_t system_page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

// The pages that contain the bytes.
std::span<std::byte> pages_around(std::span<std::byte> bytes) {
  const std::uint64_t before = reinterpret_cast<std::uintptr_t>(bytes.data()) % system_page_bytes();
  return {bytes.data() - before, before + bytes.size()};
}

// The pages within the bytes.
std::span<std::byte> pages_inside(std::span<std::byte> bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uint64_t skipped =
      (system_page_bytes() - address % system_page_bytes()) % system_page_bytes();
  if (skipped >= bytes.size()) return {};
  const std::uint64_t left = bytes.size() - skipped;
  return bytes.subspan(skipped, left - left % system_page_bytes());
}

// Returns 0 or an error number. Systems before Linux 5.14 do not know the advice (EINVAL) and
// provide each page at its first use.
int populate(std::span<std::byte> pages) {
  int result = 0;
  do {
    result = ::madvise(pages.data(), pages.size(), MADV_POPULATE_WRITE);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result == 0 || errno == EINVAL ? 0 : errno;
}

}  // namespace

Result<std::span<std::byte>> reserve_pages(std::uint64_t size_bytes) {
  void* const address = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return make_error(
        ErrorCode::out_of_memory,
        fmt::format("the system does not provide {} bytes: {}", size_bytes, std::strerror(errno)));
  }
  // A huge page would take more than what is committed, and the system's collecting of pages into
  // huge ones would take again what was given back. Systems without huge pages refuse the advice.
  ::madvise(address, size_bytes, MADV_NOHUGEPAGE);
  return std::span(static_cast<std::byte*>(address), size_bytes);
}

Result<void> commit_pages(std::span<std::byte> bytes) {
  if (bytes.empty()) return {};
  const bool leaves_some = has_available_memory(bytes.size() + memory_left_to_others_bytes);
  const int error = leaves_some ? populate(pages_around(bytes)) : ENOMEM;
  if (error == 0) return {};
  return make_error(ErrorCode::out_of_memory,
                    fmt::format("the system has no {} bytes of memory left: {}", bytes.size(),
                                std::strerror(error)));
}

void give_back_pages(std::span<std::byte> bytes) {
  const std::span<std::byte> pages = pages_inside(bytes);
  if (pages.empty()) return;
  const int result = ::madvise(pages.data(), pages.size(), MADV_DONTNEED);
  FALAFEL_ASSERT(result == 0, "the system does not take back {} bytes: {}", pages.size(),
                 std::strerror(errno));
}

}  // namespace falafel::fabric
