// The status line: the bytes of the chunk behind the superblock, where the server tells its clients what
// goes on. Clients read it; only the server's processor writes it, word by word.
//
//   byte   0  u64  rebindings: odd while the cleanup binds slots to other keys, even otherwise
//          8  56 B zero
//
// Double collect with it: a client that reads the same even number before its first reading of a chain's
// entries and after its last one knows that the cleanup has bound no slot to another key meanwhile. A slot
// that was occupied at both readings then has had the same key all the time, whatever its word did.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/layout/geometry.h"

namespace falafel::engine {

struct StatusLine {
  std::uint64_t rebindings = 0;
  std::array<std::byte, 56> zero{};
};
static_assert(sizeof(StatusLine) == status_line_bytes);
static_assert(offsetof(StatusLine, rebindings) == 0);

// From the chunk's start.
inline constexpr std::uint64_t rebindings_offset =
    Geometry::status_line_offset() + offsetof(StatusLine, rebindings);

}  // namespace falafel::engine
