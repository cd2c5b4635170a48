#include "engine/layout/references.h"

#include <algorithm>
#include <bit>

namespace falafel::engine {
namespace {

constexpr std::uint32_t hash_bits = 64;
constexpr std::uint64_t shortest_class_bytes = 64;

}  // namespace

std::uint32_t References::to(std::uint64_t offset, std::uint64_t hash,
                             std::uint64_t container_bytes) const {
  const std::uint64_t lines = (container_bytes + shortest_class_bytes - 1) / shortest_class_bytes;
  const auto fitting = static_cast<std::uint32_t>(lines == 0 ? 0 : std::bit_width(lines - 1));
  const std::uint64_t size_class = std::min(fitting, last_class());
  const std::uint64_t fingerprint = fingerprint_of(hash);
  const std::uint64_t above = fingerprint << geometry_.size_class_bits | size_class;
  return static_cast<std::uint32_t>(above << geometry_.offset_bits() | geometry_.to_units(offset));
}

bool References::may_have_key(Entry entry, std::uint64_t hash) const {
  return fingerprint(entry) == fingerprint_of(hash);
}

std::optional<std::uint64_t> References::most_bytes(Entry entry) const {
  if (size_class(entry) == last_class()) return std::nullopt;
  return shortest_class_bytes << size_class(entry);
}

std::uint32_t References::fingerprint(Entry entry) const {
  return static_cast<std::uint32_t>(std::uint64_t{entry.reference()} >>
                                    (reference_bits - geometry_.fingerprint_bits));
}

std::uint32_t References::size_class(Entry entry) const {
  return static_cast<std::uint32_t>(std::uint64_t{entry.reference()} >> geometry_.offset_bits()) &
         last_class();
}

std::uint32_t References::fingerprint_of(std::uint64_t hash) const {
  if (geometry_.fingerprint_bits == 0) return 0;
  return static_cast<std::uint32_t>(hash >> (hash_bits - geometry_.fingerprint_bits));
}

}  // namespace falafel::engine
