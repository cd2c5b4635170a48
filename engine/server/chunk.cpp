#include "engine/server/chunk.h"

#include <array>

namespace falafel::engine {

Entry Chunk::load_entry(std::uint64_t slot) const {
  return Entry(block->load(geometry.entry_offset(slot)));
}

std::optional<ContainerHeader> Chunk::read_header(std::uint64_t offset) const {
  if (!geometry.may_hold_container(offset)) return std::nullopt;
  std::array<std::byte, container_header_bytes> bytes;
  block->read(offset, bytes);
  const auto header = read_container_header(bytes, Verification::on);
  if (!header || header->container_bytes() > geometry.region_bytes ||
      header->container_bytes() > geometry.chunk_bytes() - offset) {
    return std::nullopt;
  }
  return header;
}

std::optional<std::vector<std::byte>> Chunk::read_key(std::uint64_t offset,
                                                      const ContainerHeader& header) const {
  std::vector<std::byte> key(header.key_bytes);
  block->read(offset + container_header_bytes, key);
  if (!verify_container_key(key, header)) return std::nullopt;
  return key;
}

std::optional<ContainerCopy> Chunk::read_container(Entry entry, Part part) const {
  const std::uint64_t offset = geometry.to_offset(entry.offset_units());
  const auto header = read_header(offset);
  if (!header) return std::nullopt;
  auto key = read_key(offset, *header);
  if (!key) return std::nullopt;
  ContainerCopy copy{.header = *header, .key = std::move(*key), .value = {}};
  if (part == Part::key_and_value) {
    copy.value.resize(header->value_bytes);
    block->read(offset + header->key_end(), copy.value);
    if (!verify_container_value(copy.value, *header)) return std::nullopt;
  }
  return copy;
}

void Chunk::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  block->write(offset, bytes);
}

}  // namespace falafel::engine
