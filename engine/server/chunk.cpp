#include "engine/server/chunk.h"

#include <array>

#include "engine/server/held_memory.h"

namespace falafel::engine {
namespace {

// Reads the parts of a container with read(offset, destination), which fetches bytes of the chunk.
template <typename Read>
std::optional<ContainerHeader> find_header(const Chunk& chunk, std::uint64_t offset,
                                           const Read& read) {
  const Geometry& geometry = chunk.geometry;
  const auto is_held = [&](std::uint64_t length_bytes) {
    return chunk.held == nullptr || chunk.held->holds(offset, length_bytes);
  };
  if (!geometry.may_hold_container(offset) || !is_held(container_header_bytes)) return std::nullopt;
  std::array<std::byte, container_header_bytes> bytes{};
  read(offset, bytes);
  const auto header = read_container_header(bytes, Verification::on);
  if (!header || header->container_bytes() > geometry.region_bytes ||
      header->container_bytes() > geometry.mature_end() - offset ||
      !is_held(header->container_bytes())) {
    return std::nullopt;
  }
  return header;
}

template <typename Read>
std::optional<std::vector<std::byte>> find_key(std::uint64_t offset, const ContainerHeader& header,
                                               const Read& read) {
  std::vector<std::byte> key(header.key_bytes);
  read(offset + container_header_bytes, key);
  if (!verify_container_key(key, header)) return std::nullopt;
  return key;
}

template <typename Read>
std::optional<ContainerCopy> find_container(const Chunk& chunk, Entry entry, Chunk::Part part,
                                            const Read& read) {
  const std::uint64_t offset = chunk.geometry.to_offset(entry.reference());
  const auto header = find_header(chunk, offset, read);
  if (!header) return std::nullopt;
  auto key = find_key(offset, *header, read);
  if (!key) return std::nullopt;
  ContainerCopy copy{.header = *header, .key = std::move(*key), .value = {}};
  if (part == Chunk::Part::key_and_value) {
    copy.value.resize(header->value_bytes);
    read(offset + header->key_end(), copy.value);
    if (!verify_container_value(copy.value, *header)) return std::nullopt;
  }
  return copy;
}

auto by_processor(const Chunk& chunk) {
  return [&chunk](std::uint64_t offset, std::span<std::byte> destination) {
    chunk.block->read(offset, destination);
  };
}

}  // namespace

Entry Chunk::load_entry(std::uint64_t slot) const {
  return Entry(block->load(geometry.entry_offset(slot)));
}

std::optional<ContainerHeader> Chunk::read_header(std::uint64_t offset) const {
  return find_header(*this, offset, by_processor(*this));
}

std::optional<std::vector<std::byte>> Chunk::read_key(std::uint64_t offset,
                                                      const ContainerHeader& header) const {
  return find_key(offset, header, by_processor(*this));
}

std::optional<ContainerCopy> Chunk::read_container(Entry entry, Part part) const {
  return find_container(*this, entry, part, by_processor(*this));
}

std::optional<ContainerCopy> Chunk::read_container(Entry entry, Part part,
                                                   const ReadBytes& read) const {
  return find_container(*this, entry, part, read);
}

Entry Chunk::stand_in_for(Entry entry) const {
  return entry.pointing_to(geometry.to_units(Geometry::stand_in_offset())).with_deleted();
}

void Chunk::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  block->write(offset, bytes);
}

}  // namespace falafel::engine
