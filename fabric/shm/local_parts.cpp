#include "fabric/shm/local_parts.h"

#include <algorithm>

#include "fabric/assert.h"
#include "fabric/shm/copy.h"

namespace falafel::shm {
namespace {

// Calls `use(begin, length_bytes)` for the pieces of a range, in order.
template <typename Use>
void for_each_piece(LocalParts parts, std::uint64_t offset, std::uint64_t length_bytes,
                    const Use& use) {
  for (const LocalPart& part : parts) {
    if (length_bytes == 0) return;
    if (offset >= part.length_bytes) {
      offset -= part.length_bytes;
      continue;
    }
    const std::uint64_t piece_bytes = std::min(part.length_bytes - offset, length_bytes);
    use(part.begin + offset, piece_bytes);
    offset = 0;
    length_bytes -= piece_bytes;
  }
  FALAFEL_ASSERT(length_bytes == 0, "{} bytes are beyond the last part", length_bytes);
}

}  // namespace

void gather(LocalParts parts, std::uint64_t offset, std::span<std::byte> destination) {
  std::byte* to = destination.data();
  for_each_piece(parts, offset, destination.size(),
                 [&](std::byte* from, std::uint64_t piece_bytes) {
                   copy_shared(to, from, piece_bytes, WholeWords::of_source);
                   to += piece_bytes;
                 });
}

void scatter(LocalParts parts, std::uint64_t offset, std::span<std::byte> source) {
  std::byte* from = source.data();
  for_each_piece(parts, offset, source.size(), [&](std::byte* to, std::uint64_t piece_bytes) {
    copy_shared(to, from, piece_bytes, WholeWords::of_destination);
    from += piece_bytes;
  });
}

}  // namespace falafel::shm
