#include "engine/layout/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace falafel::engine {
namespace {

// For long pieces, the library uses AVX-512 and leaves the upper halves of the registers dirty, so
// SSE instructions become slow. Without this, a process that has checked 4,096 bytes once takes 881
// nanoseconds for a GET of 24 bytes from shared memory instead of 331.
#if defined(__x86_64__)
__attribute__((target("avx"))) void clear_upper_halves() { __builtin_ia32_vzeroupper(); }
void leave_wide_registers() {
  if (__builtin_cpu_supports("avx")) clear_upper_halves();
}
#else
void leave_wide_registers() {}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t checksum) {
  // the library's lengths are of type int
  constexpr std::size_t longest_piece = std::size_t{1} << 30;
  constexpr std::size_t longest_narrow_piece = 128;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), longest_piece));
    // The library does not write, but its parameter is a pointer to non-const.
    auto* start = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(piece.data()));
    checksum = crc32_iscsi(start, static_cast<int>(piece.size()), checksum);
    if (piece.size() > longest_narrow_piece) leave_wide_registers();
    bytes = bytes.subspan(piece.size());
  }
  return checksum;
}

}  // namespace falafel::engine
