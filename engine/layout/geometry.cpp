#include "engine/layout/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/layout/container.h"
#include "engine/layout/entry.h"
#include "fabric/fabric.h"

namespace falafel::engine {
namespace {

constexpr std::uint64_t align(std::uint64_t bytes) {
  return (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
}

}  // namespace

std::uint64_t Geometry::entry_offset(std::uint64_t slot) const {
  FALAFEL_ASSERT(slot < slot_count(), "slot {} of {} slots", slot, slot_count());
  if (slot < table_entries) return table_offset() + slot * entry_bytes;
  return later_tables_offset() + (slot - table_entries) * entry_bytes;
}

std::optional<std::uint64_t> Geometry::slot_at(std::uint64_t offset) const {
  const auto slot_from = [offset](std::uint64_t begin, std::uint64_t bytes) {
    return offset >= begin && offset < begin + bytes ? std::optional((offset - begin) / entry_bytes)
                                                     : std::nullopt;
  };
  if (const auto slot = slot_from(table_offset(), table_entries * entry_bytes)) return slot;
  const auto later = slot_from(later_tables_offset(), later_tables_bytes());
  return later ? std::optional(table_entries + *later) : std::nullopt;
}

// The slots of table t are those from (2^t - 1) * table_entries on.
std::uint32_t Geometry::table_of(std::uint64_t slot) const {
  return static_cast<std::uint32_t>(std::bit_width(slot / table_entries + 1)) - 1;
}

std::uint64_t Geometry::region_offset(std::uint64_t region) const {
  return align(table_offset() + table_entries * entry_bytes) + region * region_bytes;
}

std::uint64_t Geometry::mature_offset(std::uint32_t space) const {
  return align(region_offset(region_count)) + space * align(mature_bytes);
}

std::optional<std::uint32_t> Geometry::mature_space_at(std::uint64_t offset) const {
  const std::uint64_t begin = mature_offset(0);
  if (offset < begin || offset >= mature_end()) return std::nullopt;
  const std::uint64_t space = (offset - begin) / align(mature_bytes);
  if ((offset - begin) % align(mature_bytes) >= mature_bytes) return std::nullopt;
  return static_cast<std::uint32_t>(space);
}

std::uint64_t Geometry::chunk_bytes() const {
  return later_tables_offset() + align(later_tables_bytes());
}

std::uint64_t Geometry::round_up_to_unit(std::uint64_t bytes) const {
  return (bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

std::uint32_t Geometry::to_units(std::uint64_t offset) const {
  FALAFEL_ASSERT(offset % unit_bytes == 0 && offset < mature_end(),
                 "offset {} is not a unit within the chunk", offset);
  return static_cast<std::uint32_t>(offset / unit_bytes);
}

std::uint64_t Geometry::to_offset(std::uint32_t reference) const {
  const std::uint64_t units = reference & ((std::uint64_t{1} << offset_bits()) - 1);
  return units * unit_bytes;
}

bool Geometry::may_hold_container(std::uint64_t offset) const {
  return offset == stand_in_offset() ||
         (offset >= region_offset(0) && offset + container_header_bytes <= mature_end());
}

std::optional<std::string> find_invalid_geometry(const Geometry& geometry) {
  constexpr std::uint64_t most = std::uint64_t{1} << 38;  // 256 GiB: no sum below overflows
  if (geometry.unit_bytes != 8 && geometry.unit_bytes != 64) {
    return fmt::format("unit_bytes is {} but must be 8 or 64", geometry.unit_bytes);
  }
  if (geometry.table_entries == 0 || geometry.table_entries > most / entry_bytes) {
    return fmt::format("table_entries is {} but must be from 1 to {}", geometry.table_entries,
                       most / entry_bytes);
  }
  if (geometry.most_tables == 0 || geometry.most_tables > most_tables_of_a_store ||
      geometry.table_entries > (most / entry_bytes) >> (geometry.most_tables - 1)) {
    return fmt::format(
        "most_tables is {} but must be from 1 to {}, and the last table may have at most {} "
        "entries",
        geometry.most_tables, most_tables_of_a_store, most / entry_bytes);
  }
  if (geometry.region_count == 0 || geometry.region_count > 65'536) {
    return fmt::format("region_count is {} but must be from 1 to 65536", geometry.region_count);
  }
  if (geometry.tag_bits == 0 || geometry.tag_bits > most_tag_bits) {
    return fmt::format("tag_bits is {} but must be from 1 to {}", geometry.tag_bits, most_tag_bits);
  }
  if (geometry.fingerprint_bits > most_fingerprint_bits) {
    return fmt::format("fingerprint_bits is {} but must be from 0 to {}", geometry.fingerprint_bits,
                       most_fingerprint_bits);
  }
  if (geometry.size_class_bits > most_size_class_bits) {
    return fmt::format("size_class_bits is {} but must be from 0 to {}", geometry.size_class_bits,
                       most_size_class_bits);
  }
  const std::uint64_t smallest = geometry.round_up_to_unit(container_bytes(1, 0));
  const auto is_valid_space = [&](std::uint64_t bytes) {
    return bytes >= smallest && bytes <= most && bytes % geometry.unit_bytes == 0;
  };
  if (!is_valid_space(geometry.region_bytes) ||
      geometry.region_bytes > most / geometry.region_count) {
    return fmt::format("region_bytes is {} but must be a multiple of {} from {} to {}",
                       geometry.region_bytes, geometry.unit_bytes, smallest,
                       most / geometry.region_count);
  }
  if (!is_valid_space(geometry.mature_bytes) || geometry.mature_bytes < geometry.region_bytes) {
    return fmt::format(
        "mature_bytes is {} but must be a multiple of {} and at least region_bytes ({})",
        geometry.mature_bytes, geometry.unit_bytes, geometry.region_bytes);
  }
  const std::uint64_t most_spaces = most / align(geometry.mature_bytes);
  const bool has_valid_count =
      geometry.mature_space_count == semi_space_count ||
      (geometry.mature_space_count >= fewest_blocks && geometry.mature_space_count <= most_spaces);
  if (!has_valid_count) {
    return fmt::format("mature_space_count is {} but must be {} or from {} to {}",
                       geometry.mature_space_count, semi_space_count, fewest_blocks, most_spaces);
  }
  const std::uint64_t reach = (std::uint64_t{1} << geometry.offset_bits()) * geometry.unit_bytes;
  if (geometry.mature_end() > reach) {
    return fmt::format(
        "the chunk has {} bytes, but offsets of {} bits in units of {} reach only {}; make it "
        "smaller, or use unit_bytes 64 or smaller fingerprint_bits and size_class_bits",
        geometry.mature_end(), geometry.offset_bits(), geometry.unit_bytes, reach);
  }
  return std::nullopt;
}

Geometry with_spare_bits(Geometry geometry, const SpareBits& bits) {
  const std::uint64_t last_unit = geometry.mature_end() / geometry.unit_bytes - 1;
  const auto needed = static_cast<std::uint32_t>(std::bit_width(last_unit));
  const std::uint32_t spare = needed < reference_bits ? reference_bits - needed : 0;
  geometry.size_class_bits = bits.size_class.value_or(std::min(spare, most_size_class_bits));
  const std::uint32_t left = spare - std::min(spare, geometry.size_class_bits);
  geometry.fingerprint_bits = bits.fingerprint.value_or(std::min(left, most_fingerprint_bits));
  return geometry;
}

}  // namespace falafel::engine
