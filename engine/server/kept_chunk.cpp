#include "engine/server/kept_chunk.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "engine/layout/status_line.h"
#include "engine/layout/superblock.h"
#include "engine/server/held_memory.h"

namespace falafel::engine {
namespace {

HashKey choose_hash_key(fabric::Host& host, const ServerOptions& options) {
  if (options.hash_key) return *options.hash_key;
  HashKey hash_key{};
  for (std::byte& byte : hash_key) byte = static_cast<std::byte>(host.random(256));
  return hash_key;
}

void write_stand_in(const Chunk& chunk) {
  std::array<std::byte, container_header_bytes> stand_in{};
  write_unreadable_container(stand_in);
  chunk.write(Geometry::stand_in_offset(), stand_in);
}

Chunk create_chunk(fabric::Host& host, const ServerOptions& options,
                   std::shared_ptr<fabric::MemoryBlock> block) {
  Chunk chunk{.geometry = options.geometry,
              .hash_key = choose_hash_key(host, options),
              .block = std::move(block)};
  const Superblock superblock = make_superblock(options.geometry, chunk.hash_key, host.random(0));
  const auto bytes = std::as_bytes(std::span(&superblock, 1));
  if (!options.kept_memory) {
    chunk.write(0, bytes);
    write_stand_in(chunk);
    return chunk;
  }
  write_stand_in(chunk);
  chunk.write(fabric::word_bytes, bytes.subspan(fabric::word_bytes));
  chunk.block->store(0, superblock.magic);
  return chunk;
}

// Returns a message that names the first field in which kept memory differs from the options.
std::optional<std::string> find_differing_field(const Geometry& kept, const Geometry& wanted) {
  struct Field {
    std::string_view name;
    std::uint64_t kept;
    std::uint64_t wanted;
  };
  const std::array fields{
      Field{"unit_bytes", kept.unit_bytes, wanted.unit_bytes},
      Field{"table_entries", kept.table_entries, wanted.table_entries},
      Field{"region_bytes", kept.region_bytes, wanted.region_bytes},
      Field{"region_count", kept.region_count, wanted.region_count},
      Field{"mature_bytes", kept.mature_bytes, wanted.mature_bytes},
      Field{"mature_space_count", kept.mature_space_count, wanted.mature_space_count},
      Field{"tag_bits", kept.tag_bits, wanted.tag_bits},
      Field{"fingerprint_bits", kept.fingerprint_bits, wanted.fingerprint_bits},
      Field{"size_class_bits", kept.size_class_bits, wanted.size_class_bits},
      Field{"most_tables", kept.most_tables, wanted.most_tables},
      Field{"values_expire", kept.values_expire ? 1U : 0U, wanted.values_expire ? 1U : 0U}};
  for (const Field& field : fields) {
    if (field.kept == field.wanted) continue;
    return fmt::format("{} is {} there, but {} in the options", field.name, field.kept,
                       field.wanted);
  }
  return std::nullopt;
}

tl::unexpected<fabric::Error> refuse_memory(const ServerOptions& options,
                                            std::string_view problem) {
  return fabric::make_error(fabric::ErrorCode::invalid_argument,
                            fmt::format("the memory kept as '{}' is not that of this store: {}",
                                        *options.kept_memory, problem));
}

fabric::Result<OpenedChunk> reopen_chunk(const ServerOptions& options,
                                         std::shared_ptr<fabric::MemoryBlock> block) {
  std::array<std::byte, superblock_bytes> bytes{};
  block->read(0, bytes);
  const auto superblock = parse_superblock(bytes, options.geometry.chunk_bytes());
  if (!superblock) return refuse_memory(options, superblock.error().detail);
  const auto difference = find_differing_field(geometry_of(*superblock), options.geometry);
  if (difference) return refuse_memory(options, *difference);
  const Tables tables = Tables::from_word(block->load(tables_offset));
  if (tables.first > tables.last || tables.last >= options.geometry.most_tables) {
    return refuse_memory(
        options, fmt::format("tables {} to {} are in use there, of {}", tables.first, tables.last,
                             options.geometry.most_tables));
  }
  return OpenedChunk{.chunk = {.geometry = options.geometry,
                               .hash_key = superblock->hash_key,
                               .block = std::move(block),
                               .tables = tables},
                     .is_new = false};
}

fabric::Result<void> commit_fixed_part(const ServerOptions& options, fabric::MemoryBlock& block) {
  if (!options.memory_grows) return {};
  return block.commit(0, end_of_fixed_part(options.geometry));
}

}  // namespace

fabric::Result<OpenedChunk> open_chunk(fabric::Host& host, const ServerOptions& options) {
  const std::uint64_t size_bytes = options.geometry.chunk_bytes();
  if (!options.kept_memory) {
    auto block =
        options.memory_grows ? host.reserve_memory(size_bytes) : host.allocate_memory(size_bytes);
    if (!block) return tl::unexpected(block.error());
    if (auto committed = commit_fixed_part(options, **block); !committed) {
      return tl::unexpected(committed.error());
    }
    return OpenedChunk{.chunk = create_chunk(host, options, std::move(*block))};
  }
  auto kept = options.memory_grows ? host.keep_reserved_memory(*options.kept_memory, size_bytes)
                                   : host.keep_memory(*options.kept_memory, size_bytes);
  if (!kept) return fabric::make_error(kept.error().code, "kept_memory: " + kept.error().detail);
  if (auto committed = commit_fixed_part(options, *kept->block); !committed) {
    return tl::unexpected(committed.error());
  }
  const bool was_created = !kept->is_new && kept->block->load(0) != 0;
  if (was_created) return reopen_chunk(options, std::move(kept->block));
  return OpenedChunk{.chunk = create_chunk(host, options, std::move(kept->block))};
}

}  // namespace falafel::engine
