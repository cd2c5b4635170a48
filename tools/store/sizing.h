// How the memory of a server is divided: into its table, the regions that clients write to, and two
// mature spaces, which keep the data in turn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "engine/layout/geometry.h"

namespace falafel::store {

struct SizingOptions {
  std::uint64_t memory_bytes = std::uint64_t{512} << 20U;  // of everything
  std::optional<std::uint64_t> table_entries{};  // absent: one for each 128 bytes of memory
  std::optional<std::uint64_t> region_bytes{};   // absent: 1 MiB, or less if memory is small
  std::uint32_t clients = 64;
};

// A geometry of at most `memory_bytes`. Or what is wrong, by the names of the command line.
tl::expected<engine::Geometry, std::string> divide_memory(const SizingOptions& options);

}  // namespace falafel::store
