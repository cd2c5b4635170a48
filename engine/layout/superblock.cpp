#include "engine/layout/superblock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "engine/layout/crc32c.h"

namespace falafel::engine {
namespace {

std::uint32_t checksum_of(const Superblock& superblock) {
  return crc32c(std::as_bytes(std::span(&superblock, 1)).first(offsetof(Superblock, crc)));
}

// Compares the fields that follow from the sizes and counts.
std::optional<std::string> find_difference(const Superblock& read, const Superblock& derived) {
  struct Field {
    std::string_view name;
    std::uint64_t Superblock::*value;
  };
  constexpr std::array fields{Field{"chunk_bytes", &Superblock::chunk_bytes},
                              Field{"table_offset", &Superblock::table_offset},
                              Field{"regions_offset", &Superblock::regions_offset},
                              Field{"mature_0_offset", &Superblock::mature_0_offset},
                              Field{"mature_1_offset", &Superblock::mature_1_offset}};
  if (read.version != derived.version) {
    return fmt::format(
        "version is {}, but the number of tables and the bits of fingerprints and size classes "
        "imply {}",
        read.version, derived.version);
  }
  for (const Field& field : fields) {
    if (read.*field.value != derived.*field.value) {
      return fmt::format("{} is {}, but the sizes imply {}", field.name, read.*field.value,
                         derived.*field.value);
    }
  }
  return std::nullopt;
}

tl::unexpected<fabric::Error> refuse(std::string what) {
  return fabric::make_error(fabric::ErrorCode::invalid_argument, "superblock: " + std::move(what));
}

}  // namespace

static std::uint32_t version_of(const Geometry& geometry) {
  if (geometry.can_grow()) {
    return geometry.values_expire ? growing_cache_layout_version : growing_layout_version;
  }
  if (geometry.values_expire) return cache_layout_version;
  return geometry.offset_bits() == reference_bits ? layout_version : reference_layout_version;
}

Superblock make_superblock(const Geometry& geometry, const HashKey& hash_key,
                           std::uint64_t incarnation) {
  Superblock superblock;
  superblock.version = version_of(geometry);
  superblock.unit_bytes = geometry.unit_bytes;
  superblock.chunk_bytes = geometry.chunk_bytes();
  superblock.table_offset = Geometry::table_offset();
  superblock.table_entries = geometry.table_entries;
  superblock.regions_offset = geometry.region_offset(0);
  superblock.region_bytes = geometry.region_bytes;
  superblock.region_count = geometry.region_count;
  superblock.mature_0_offset = geometry.mature_offset(0);
  superblock.mature_bytes = geometry.mature_bytes;
  superblock.mature_1_offset = geometry.mature_offset(1);
  superblock.hash_key = hash_key;
  superblock.incarnation = incarnation;
  superblock.tag_bits = geometry.tag_bits;
  superblock.fingerprint_bits = geometry.fingerprint_bits;
  superblock.size_class_bits = static_cast<std::uint16_t>(geometry.size_class_bits);
  superblock.later_tables = static_cast<std::uint16_t>(geometry.most_tables - 1);
  superblock.crc = checksum_of(superblock);
  return superblock;
}

Geometry geometry_of(const Superblock& superblock) {
  Geometry geometry{.unit_bytes = superblock.unit_bytes,
                    .table_entries = superblock.table_entries,
                    .region_bytes = superblock.region_bytes,
                    .region_count = superblock.region_count,
                    .mature_bytes = superblock.mature_bytes,
                    .tag_bits = superblock.tag_bits,
                    .fingerprint_bits = superblock.fingerprint_bits,
                    .size_class_bits = superblock.size_class_bits,
                    .values_expire = superblock.version == cache_layout_version ||
                                     superblock.version == growing_cache_layout_version,
                    .most_tables = std::uint32_t{superblock.later_tables} + 1};
  const bool is_valid = !find_invalid_geometry(geometry);
  if (!is_valid) return geometry;
  const std::uint64_t other_bytes =
      geometry.mature_offset(0) + (geometry.chunk_bytes() - geometry.later_tables_offset());
  if (superblock.chunk_bytes <= other_bytes) return geometry;
  Geometry with_blocks = geometry;
  const std::uint64_t distance_bytes = geometry.mature_offset(1) - geometry.mature_offset(0);
  with_blocks.mature_space_count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>((superblock.chunk_bytes - other_bytes) / distance_bytes,
                              std::numeric_limits<std::uint32_t>::max()));
  return find_invalid_geometry(with_blocks) ? geometry : with_blocks;
}

fabric::Result<Superblock> parse_superblock(std::span<const std::byte> bytes,
                                            std::uint64_t chunk_bytes) {
  if (bytes.size() < superblock_bytes) {
    return refuse(fmt::format("{} bytes are too short", bytes.size()));
  }
  Superblock superblock;
  std::memcpy(&superblock, bytes.data(), sizeof superblock);
  if (superblock.magic != superblock_magic) {
    return refuse(fmt::format("the magic number is {:016x}: this is not memory of a Falafel server",
                              superblock.magic));
  }
  if (superblock.version < layout_version || superblock.version > latest_layout_version) {
    return refuse(
        fmt::format("version {}, but this client supports versions {} to {}; use a client of the "
                    "server's version",
                    superblock.version, layout_version, latest_layout_version));
  }
  if (superblock.crc != checksum_of(superblock)) return refuse("the checksum is wrong");
  const Geometry geometry = geometry_of(superblock);
  if (auto problem = find_invalid_geometry(geometry)) return refuse(std::move(*problem));
  const Superblock derived = make_superblock(geometry, superblock.hash_key, superblock.incarnation);
  if (auto problem = find_difference(superblock, derived)) return refuse(std::move(*problem));
  if (geometry.chunk_bytes() != chunk_bytes) {
    return refuse(fmt::format("the chunk has {} bytes, but the server announced {}",
                              geometry.chunk_bytes(), chunk_bytes));
  }
  return superblock;
}

}  // namespace falafel::engine
