// Decides how much memory a server has, from the sizes on its command line and what the machine
// has.
//
// Over shared memory, the memory grows unless --memory alone is given. Over verbs, it has a fixed
// size unless --max-memory is given, which requires a device that pages memory on demand: others
// pin all of it. Huge pages are reserved in advance, so they have a fixed size too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "tools/server/sizing.h"

namespace falafel::server_program {

inline constexpr std::uint64_t fixed_memory_bytes = std::uint64_t{512} << 20U;
// A store that grows holds this much at first, and always.
inline constexpr std::uint64_t least_memory_bytes = std::uint64_t{16} << 20U;

struct MemorySizes {
  std::optional<std::uint64_t> memory_bytes{};      // --memory
  std::optional<std::uint64_t> max_memory_bytes{};  // --max-memory
  bool fills_up = false;  // a cache, which takes all memory that it may have
};

// The machine's part of the decision.
struct MachineMemory {
  bool grows_unasked = true;  // without any size
  std::string obstacle{};     // to growth, for a message; empty: memory can grow
  std::optional<std::uint64_t> available_bytes{};  // absent: unknown
};

struct MemoryPlan {
  SizingOptions sizing;  // with the limit
  bool grows = false;
  std::uint64_t least_held_bytes = 0;
};

// Without sizes, the limit is half of what is available, and for a cache the fixed memory. A memory
// that grows has a table that grows too, unless its length is given. Returns an error message that
// names command-line options.
tl::expected<MemoryPlan, std::string> plan_memory(SizingOptions sizing, const MemorySizes& sizes,
                                                  const MachineMemory& machine);

}  // namespace falafel::server_program
