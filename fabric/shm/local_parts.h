// The local buffer of a request: ranges of this process's memory, in order. Other processes may
// access them at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace falafel::shm {

struct LocalPart {
  std::byte* begin = nullptr;
  std::uint64_t length_bytes = 0;
};
using LocalParts = std::span<const LocalPart>;

// The number of parts of the buffer of a request.
template <typename Request>
std::size_t part_count(const Request& request) {
  if (request.length_bytes == 0) return 0;
  return request.segments.empty() ? 1 : request.segments.size();
}

// Removes the first parts from `parts` and returns them.
inline LocalParts take_parts(LocalParts& parts, std::size_t count) {
  const LocalParts taken = parts.first(count);
  parts = parts.subspan(count);
  return taken;
}

// A range of the buffer: where it is, if it is within one part; otherwise null.
inline std::byte* find_whole(LocalParts parts, std::uint64_t offset, std::uint64_t length_bytes) {
  for (const LocalPart& part : parts) {
    if (offset < part.length_bytes) {
      return length_bytes <= part.length_bytes - offset ? part.begin + offset : nullptr;
    }
    offset -= part.length_bytes;
  }
  return nullptr;
}
// Copies a range of the buffer.
void gather(LocalParts parts, std::uint64_t offset, std::span<std::byte> destination);
void scatter(LocalParts parts, std::uint64_t offset, std::span<std::byte> source);

}  // namespace falafel::shm
