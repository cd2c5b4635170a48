// The status line: the bytes of the chunk after the superblock, in which the server publishes its
// state to clients. Clients read it; only the server's processor writes it, word by word.
//
//   byte   0  u64  rebindings: odd while the cleanup binds slots to other keys, even otherwise
//          8  u32  first table in use
//         12  u32  last table; both only grow
//         16  48 B zero
//
// Double collect uses it as follows. A client reads the number before its first read of a chain's
// entries and again after its last. If both values are equal and even, the cleanup has bound no
// slot to another key in between. A slot that was occupied at both reads then had the same key
// throughout, regardless of how its word changed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/layout/geometry.h"
#include "engine/layout/tables.h"

namespace falafel::engine {

struct StatusLine {
  std::uint64_t rebindings = 0;
  Tables tables{};
  std::array<std::byte, 48> zero{};
};
static_assert(sizeof(StatusLine) == status_line_bytes);
static_assert(offsetof(StatusLine, rebindings) == 0);
static_assert(offsetof(StatusLine, tables) == 8);

// Offset from the start of the chunk.
inline constexpr std::uint64_t rebindings_offset =
    Geometry::status_line_offset() + offsetof(StatusLine, rebindings);
inline constexpr std::uint64_t tables_offset =
    Geometry::status_line_offset() + offsetof(StatusLine, tables);

}  // namespace falafel::engine
