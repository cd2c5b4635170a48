#include "tools/server/memory_file.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "engine/layout/entry.h"
#include "engine/layout/superblock.h"
#include "fabric/realtime/kept_file.h"

namespace falafel::server_program {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

Result<std::optional<StoreInFile>> find_store_in(const std::string& path) {
  std::array<std::byte, engine::superblock_bytes> bytes{};
  const auto content = fabric::examine_kept_file(path, bytes);
  if (!content) return tl::unexpected(content.error());
  if (!*content) return std::nullopt;
  // The magic number is what a server writes last when it makes a store.
  std::uint64_t magic = 0;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  if (magic == 0) return std::nullopt;
  const auto superblock = engine::parse_superblock(bytes, (*content)->block_bytes);
  if (superblock) {
    return StoreInFile{.geometry = engine::geometry_of(*superblock),
                       .has_holes = (*content)->has_holes};
  }
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' holds no store that can be used: {}; restore it from a copy, "
                                "or remove it to begin with an empty store",
                                path, superblock.error().detail));
}

std::optional<std::uint64_t> free_bytes_beside(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  const std::filesystem::space_info space =
      std::filesystem::space(folder.empty() ? "." : folder, error);
  return error ? std::nullopt : std::optional<std::uint64_t>(space.available);
}

namespace {

template <typename Value, typename Wanted>
std::optional<std::string> differ(std::string_view option, Value stored, Wanted wanted) {
  if (stored == wanted) return std::nullopt;
  return fmt::format("{} {}, but the store in the file has {}", option, wanted, stored);
}

// A store leaves a little of its memory out, because its parts have round sizes.
bool fits_memory(const engine::Geometry& stored, std::uint64_t memory_bytes) {
  const std::uint64_t rounding_bytes =
      512 + engine::alignment_bytes * std::uint64_t{stored.mature_space_count};
  return stored.mature_end() <= memory_bytes &&
         memory_bytes - stored.mature_end() <= rounding_bytes;
}

}  // namespace

std::optional<std::string> find_other_size(const engine::Geometry& stored,
                                           const SizingOptions& sizing, const GivenSizes& given,
                                           bool is_cache) {
  if (stored.values_expire != is_cache) {
    return stored.values_expire ? "the store in the file is a cache; serve it with --cache"
                                : "--cache, but the store in the file is not a cache";
  }
  if (given.memory && !fits_memory(stored, sizing.memory_bytes)) {
    return differ("--memory", stored.mature_end(), sizing.memory_bytes);
  }
  if (given.semi_spaces && stored.has_blocks()) {
    return "--semi-spaces, but the store in the file has blocks";
  }
  if (sizing.table_entries && stored.table_entries != *sizing.table_entries) {
    return differ("--entries", stored.table_entries, *sizing.table_entries);
  }
  if (sizing.most_entries &&
      stored.most_tables != count_tables(stored.table_entries, *sizing.most_entries)) {
    return differ("--max-entries", stored.entries_of(stored.most_tables - 1), *sizing.most_entries);
  }
  if (sizing.region_bytes &&
      stored.region_bytes != *sizing.region_bytes / stored.unit_bytes * stored.unit_bytes) {
    return differ("--region-size", stored.region_bytes, *sizing.region_bytes);
  }
  const engine::SpareBits& bits = sizing.reference_bits;
  if (bits.fingerprint && stored.fingerprint_bits != *bits.fingerprint) {
    return differ("--fingerprint-bits", stored.fingerprint_bits, *bits.fingerprint);
  }
  if (bits.size_class && stored.size_class_bits != *bits.size_class) {
    return differ("--size-class-bits", stored.size_class_bits, *bits.size_class);
  }
  return std::nullopt;
}

std::uint64_t count_keys(engine::Server& server) {
  const engine::Geometry& geometry = server.geometry();
  const engine::Tables tables = server.inspect().tables;
  std::uint64_t keys = 0;
  for (std::uint64_t slot = geometry.first_slot(tables.first);
       slot < geometry.first_slot(tables.last + 1); ++slot) {
    const engine::Entry entry(server.memory().load(geometry.entry_offset(slot)));
    keys += entry.is_empty() || entry.is_deleted() ? 0U : 1U;
  }
  return keys;
}

}  // namespace falafel::server_program
