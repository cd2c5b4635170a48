#include "engine/layout/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace falafel::engine {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t checksum) {
  // the library's lengths are of type int
  constexpr std::size_t longest_piece = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), longest_piece));
    // The library does not write, but its parameter is a pointer to non-const.
    auto* start = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(piece.data()));
    checksum = crc32_iscsi(start, static_cast<int>(piece.size()), checksum);
    bytes = bytes.subspan(piece.size());
  }
  return checksum;
}

}  // namespace falafel::engine
