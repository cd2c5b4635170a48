#include "tests/engine/final_state.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>

#include "engine/layout/container.h"
#include "engine/layout/entry.h"
#include "engine/layout/key_hash.h"
#include "engine/layout/references.h"
#include "engine/layout/superblock.h"

namespace falafel::engine_test {
namespace {

using engine::Entry;
using engine::MatureSpaceInspection;
using engine::RegionState;
using engine::Verification;

struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

class Reader {
 public:
  Reader(std::span<const std::byte> chunk, const engine::Geometry& geometry,
         const engine::HashKey& hash_key, const engine::ServerInspection& inspection)
      : chunk_(chunk.first(geometry.chunk_bytes())),
        geometry_(geometry),
        hash_key_(hash_key),
        inspection_(inspection) {}

  FinalState read() {
    check_superblock();
    check_books();
    const std::uint64_t end = geometry_.first_slot(inspection_.tables.last + 1);
    for (std::uint64_t slot = 0; slot < end; ++slot) read_slot(slot);
    check_that_containers_are_disjoint();
    return std::move(state_);
  }

 private:
  template <typename... Arguments>
  void require(bool condition, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (condition) return;
    state_.problems.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  Entry entry_at(std::uint64_t slot) const {
    std::uint64_t word = 0;
    std::memcpy(&word, chunk_.data() + geometry_.entry_offset(slot), sizeof word);
    return Entry(word);
  }

  void check_superblock() {
    const auto superblock = engine::parse_superblock(chunk_, chunk_.size());
    require(superblock.has_value(), "the superblock is no longer valid");
    require(!superblock || engine::geometry_of(*superblock) == geometry_,
            "the superblock tells another geometry");
  }

  // The chunk must consist of the superblock, the table, free regions, and mature spaces. One
  // semi-space is in use, or any block.
  void check_books() {
    require(inspection_.regions.size() == geometry_.region_count, "books of {} regions, not {}",
            inspection_.regions.size(), geometry_.region_count);
    for (std::size_t region = 0; region < inspection_.regions.size(); ++region) {
      const RegionState state = inspection_.regions[region].state;
      require(state == RegionState::free, "region {} is in state {}, although nobody has it",
              region, static_cast<int>(state));
    }
    require(inspection_.mature_spaces.size() == geometry_.mature_space_count,
            "books of {} mature spaces", inspection_.mature_spaces.size());
    std::size_t active = 0;
    for (const MatureSpaceInspection& space : inspection_.mature_spaces) {
      active += space.active ? 1 : 0;
      require(!space.waiting, "a mature space waits for clients, although there are none");
      require(space.used_bytes <= geometry_.mature_bytes, "a mature space with {} bytes in use",
              space.used_bytes);
      require(space.active || space.used_bytes == 0 || geometry_.has_blocks(),
              "{} bytes in use of the other mature space", space.used_bytes);
    }
    require(active == 1, "{} active mature spaces", active);
  }

  // The part of the mature space at that offset that may hold containers.
  Range used_range_at(std::uint64_t offset) const {
    const auto space = geometry_.mature_space_at(offset);
    if (!space) return {};
    const std::uint64_t start = geometry_.mature_offset(*space);
    return {start, start + inspection_.mature_spaces[*space].used_bytes};
  }

  void read_slot(std::uint64_t slot) {
    const Entry entry = entry_at(slot);
    require(!entry.is_locked(), "slot {} is locked", slot);
    const bool may_be_frozen = slot < geometry_.first_slot(inspection_.tables.last);
    require(!entry.is_empty() || !entry.is_deleted() || may_be_frozen,
            "slot {} is empty and deleted", slot);
    if (!entry.is_empty()) read_container(slot, entry);
  }

  void read_container(std::uint64_t slot, Entry entry) {
    const std::uint64_t offset = geometry_.to_offset(entry.reference());
    if (offset == engine::Geometry::stand_in_offset()) {
      require(entry.is_deleted(), "slot {} is live, and its container is the stand-in", slot);
      return;
    }
    const Range allowed = used_range_at(offset);
    if (offset < allowed.start || offset + engine::container_header_bytes > allowed.end) {
      require(false, "slot {} points to {}, outside of what is used of a mature space ({} to {})",
              slot, offset, allowed.start, allowed.end);
      return;
    }
    const auto bytes = chunk_.subspan(offset, allowed.end - offset);
    const auto header = engine::read_container_header(bytes, Verification::on);
    const auto key =
        header ? engine::read_container_key(bytes, *header, Verification::on) : std::nullopt;
    const auto value =
        header ? engine::read_container_value(bytes, *header, Verification::on) : std::nullopt;
    if (!key || !value) {
      require(false, "slot {} points to {}, where no container verifies", slot, offset);
      return;
    }
    const std::uint64_t hash = engine::hash_of(*key, hash_key_);
    require(key->empty() || entry.reference() == engine::References(geometry_).to(
                                                     offset, hash, header->container_bytes()),
            "slot {} has the reference {:08x}, which is not that of its container", slot,
            entry.reference());
    add_range(slot, {offset, offset + geometry_.round_up_to_unit(header->container_bytes())});
    add_key(slot, entry, {key->begin(), key->end()}, {value->begin(), value->end()});
  }

  void add_range(std::uint64_t slot, Range range) {
    state_.container_bytes += range.end - range.start;
    require(ranges_.emplace(range.start, range.end).second, "slot {} shares its container at {}",
            slot, range.start);
  }

  void add_key(std::uint64_t slot, Entry entry, Bytes key, Bytes value) {
    if (key.empty()) {
      require(entry.is_deleted(), "slot {} is live, and its container is a stand-in", slot);
      return;
    }
    const auto [known, is_new] = slots_.emplace(key, slot);
    require(is_new, "slots {} and {} have the same key", known->second, slot);
    check_reachable(slot, key);
    if (entry.is_deleted()) {
      ++state_.deleted_keys;
    } else {
      state_.contents.emplace(std::move(key), std::move(value));
    }
  }

  // The search goes on in the next table behind a frozen entry, and behind a whole table.
  void check_reachable(std::uint64_t slot, const Bytes& key) {
    std::optional<std::uint64_t> end;
    for (std::uint32_t table = inspection_.tables.first; table <= inspection_.tables.last;
         ++table) {
      end = find_end(table, slot, key);
      if (end == slot) return;
      if (end && !entry_at(*end).is_deleted()) break;
    }
    require(false, "the key of slot {} is not found: slot {} before it is empty", slot,
            end.value_or(0));
  }

  // A search in this table ends at the slot, or at the first empty one before it.
  std::optional<std::uint64_t> find_end(std::uint32_t table, std::uint64_t slot,
                                        const Bytes& key) const {
    const std::uint64_t entries = geometry_.entries_of(table);
    const std::uint64_t home = engine::home_slot(key, hash_key_, entries);
    for (std::uint64_t distance = 0; distance < entries; ++distance) {
      const std::uint64_t walked = geometry_.first_slot(table) + (home + distance) % entries;
      if (walked == slot || entry_at(walked).is_empty()) return walked;
    }
    return std::nullopt;
  }

  void check_that_containers_are_disjoint() {
    std::uint64_t end = 0;
    for (const auto& [start, range_end] : ranges_) {
      require(start >= end, "the container at {} begins in another one", start);
      end = range_end;
    }
  }

  std::span<const std::byte> chunk_;
  const engine::Geometry& geometry_;
  const engine::HashKey& hash_key_;
  const engine::ServerInspection& inspection_;
  std::map<Bytes, std::uint64_t> slots_;
  std::map<std::uint64_t, std::uint64_t> ranges_;  // start and end of each container
  FinalState state_;
};

}  // namespace

FinalState read_final_state(std::span<const std::byte> chunk, const engine::Geometry& geometry,
                            const engine::HashKey& hash_key,
                            const engine::ServerInspection& inspection) {
  return Reader(chunk, geometry, hash_key, inspection).read();
}

}  // namespace falafel::engine_test
