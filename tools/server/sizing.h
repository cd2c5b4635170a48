// Divides a server's memory into its table, the regions that clients write to, and mature spaces,
// which hold the data: blocks of the length of a region, or two semi-spaces, which hold the data
// alternately. A memory for less than eight blocks has semi-spaces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "engine/layout/geometry.h"

namespace falafel::server_program {

// The memory for each entry of the table, unless the table has a given length.
inline constexpr std::uint64_t bytes_per_entry = 128;

struct SizingOptions {
  std::uint64_t memory_bytes = std::uint64_t{512} << 20U;  // total size
  std::optional<std::uint64_t> table_entries{};            // absent: one per 128 bytes of memory
  // The table may grow up to this length, by doubling. Absent: it does not grow.
  std::optional<std::uint64_t> most_entries{};
  std::optional<std::uint64_t> region_bytes{};  // absent: 1 MiB, or less if memory is small
  std::uint32_t clients = 64;
  bool semi_spaces = false;
  engine::SpareBits reference_bits{};  // absent: as many as the memory leaves
};

// How many tables a store has room for whose first table has this length.
std::uint32_t count_tables(std::uint64_t table_entries, std::uint64_t most_entries);

// Returns a geometry of at most `memory_bytes` and, besides, the room for later tables, or an error
// message that names command-line options.
tl::expected<engine::Geometry, std::string> divide_memory(const SizingOptions& options);

}  // namespace falafel::server_program
