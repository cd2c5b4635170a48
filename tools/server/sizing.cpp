#include "tools/server/sizing.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/layout/entry.h"

namespace falafel::server_program {
namespace {

constexpr std::uint64_t largest_default_region_bytes = 1 << 20;
constexpr std::uint64_t small_units_reach_bytes = std::uint64_t{1} << 35U;

constexpr std::uint64_t round_down(std::uint64_t bytes, std::uint64_t multiple) {
  return bytes / multiple * multiple;
}

// Uses an eighth of the memory, but at most two regions in use and two in collection per client.
std::uint64_t region_count(const SizingOptions& options, std::uint64_t region_bytes) {
  constexpr std::uint64_t regions_per_client = 4;
  const std::uint64_t fitting = options.memory_bytes / 8 / region_bytes;
  return std::clamp<std::uint64_t>(fitting, 2, std::uint64_t{regions_per_client} * options.clients);
}

void divide_into_semi_spaces(std::uint64_t bytes, engine::Geometry& geometry) {
  geometry.mature_bytes = round_down(bytes / engine::semi_space_count, engine::alignment_bytes);
}

// Blocks of at least the length of a region, as many as fit. Returns false if they are few.
bool divide_into_blocks(std::uint64_t bytes, engine::Geometry& geometry) {
  using engine::alignment_bytes;
  constexpr std::uint64_t fewest_useful_blocks = 8;
  const std::uint64_t least_bytes =
      (geometry.region_bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  const std::uint64_t count = bytes / least_bytes;
  if (count < fewest_useful_blocks) return false;
  geometry.mature_space_count = static_cast<std::uint32_t>(count);
  geometry.mature_bytes = round_down(bytes / count, alignment_bytes);
  return true;
}

}  // namespace

std::uint32_t count_tables(std::uint64_t table_entries, std::uint64_t most_entries) {
  std::uint32_t tables = 1;
  while (tables < engine::most_tables_of_a_store && most_entries >> tables >= table_entries) {
    ++tables;
  }
  return tables;
}

tl::expected<engine::Geometry, std::string> divide_memory(const SizingOptions& options) {
  using engine::alignment_bytes;
  engine::Geometry geometry;
  geometry.unit_bytes = options.memory_bytes > small_units_reach_bytes ? 64 : 8;
  geometry.table_entries = options.table_entries.value_or(
      std::max<std::uint64_t>(options.memory_bytes / bytes_per_entry, 1));
  if (options.most_entries && *options.most_entries < geometry.table_entries) {
    return tl::unexpected(fmt::format(
        "--max-entries {} is less than the {} entries with which the table begins; increase it, or "
        "make --entries smaller",
        *options.most_entries, geometry.table_entries));
  }
  const std::uint64_t default_region_bytes = std::max<std::uint64_t>(
      std::min(largest_default_region_bytes, options.memory_bytes / 64), 4'096);
  geometry.region_bytes =
      round_down(options.region_bytes.value_or(default_region_bytes), geometry.unit_bytes);
  if (geometry.region_bytes == 0) return tl::unexpected<std::string>("--region-size is too small");
  geometry.region_count = region_count(options, geometry.region_bytes);
  const bool table_fits = geometry.table_entries < options.memory_bytes / engine::entry_bytes;
  const std::uint64_t before_mature = table_fits ? geometry.mature_offset(0) : options.memory_bytes;
  const std::uint64_t left =
      options.memory_bytes > before_mature ? options.memory_bytes - before_mature : 0;
  if (options.semi_spaces || !divide_into_blocks(left, geometry)) {
    divide_into_semi_spaces(left, geometry);
  }
  if (!geometry.has_blocks() && geometry.mature_bytes < 2 * geometry.region_bytes) {
    return tl::unexpected(fmt::format(
        "--memory {} is too small for a table of {} entries ({} bytes), {} regions of {} bytes and "
        "two mature spaces of at least two regions each; increase --memory, or make --entries or "
        "--region-size smaller",
        options.memory_bytes, geometry.table_entries, geometry.table_entries * engine::entry_bytes,
        geometry.region_count, geometry.region_bytes));
  }
  if (options.most_entries) {
    geometry.most_tables = count_tables(geometry.table_entries, *options.most_entries);
  }
  geometry = engine::with_spare_bits(geometry, options.reference_bits);
  if (auto problem = engine::find_invalid_geometry(geometry)) return tl::unexpected(*problem);
  return geometry;
}

}  // namespace falafel::server_program
