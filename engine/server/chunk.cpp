#include "engine/server/chunk.h"

namespace falafel::engine {

Entry Chunk::load_entry(std::uint64_t slot) const {
  return Entry(block->load(geometry.entry_offset(slot)));
}

std::optional<ContainerCopy> Chunk::read_container(Entry entry, Part part) const {
  const std::uint64_t offset = geometry.to_offset(entry.offset_units());
  if (!geometry.may_hold_container(offset)) return std::nullopt;
  std::vector<std::byte> bytes(container_header_bytes);
  block->read(offset, bytes);
  const auto header = read_container_header(bytes, Verification::on);
  if (!header) return std::nullopt;
  const std::uint64_t length = part == Part::key ? header->key_end() : header->container_bytes();
  if (offset + length > geometry.chunk_bytes()) return std::nullopt;
  bytes.resize(length);
  block->read(offset + container_header_bytes, std::span(bytes).subspan(container_header_bytes));
  const auto key = read_container_key(bytes, *header, Verification::on);
  if (!key) return std::nullopt;
  ContainerCopy copy{.header = *header, .key = {key->begin(), key->end()}, .value = {}};
  if (part == Part::key_and_value) {
    const auto value = read_container_value(bytes, *header, Verification::on);
    if (!value) return std::nullopt;
    copy.value.assign(value->begin(), value->end());
  }
  return copy;
}

void Chunk::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  block->write(offset, bytes);
}

}  // namespace falafel::engine
