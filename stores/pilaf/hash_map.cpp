#include "stores/pilaf/hash_map.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace falafel::pilaf {
namespace {

// The server's own extents are always well formed.
ExtentView view_of(std::span<const std::byte> extent) {
  const auto view = parse_extent(extent);
  FALAFEL_ASSERT(view.has_value(), "an extent of {} bytes is not a key with a value",
                 extent.size());
  return *view;
}

}  // namespace

HashMap::HashMap(const Options& options, const Geometry& geometry,
                 std::shared_ptr<fabric::MemoryBlock> memory, Random random)
    : options_(options),
      geometry_(geometry),
      memory_(std::move(memory)),
      random_(std::move(random)),
      allocator_(geometry.extents_bytes, options.min_block_bytes) {
  const Entry empty = make_empty_entry();
  const std::span<std::byte> bytes = memory_->bytes();
  for (std::uint64_t slot = 0; slot < geometry_.table_entries; ++slot) {
    std::memcpy(bytes.data() + Geometry::entry_offset(slot), &empty, sizeof empty);
  }
}

// Looking up

ProbeSequence HashMap::slots(std::span<const std::byte> key) const {
  return slots_of(key, geometry_.hash_seed, options_.ways, geometry_.table_entries);
}

std::optional<HashMap::Found> HashMap::find(std::span<const std::byte> key) {
  const ProbeSequence sequence = slots(key);
  for (std::uint64_t index = 0; index < sequence.size(); ++index) {
    const Entry entry = read_entry(sequence[index]);
    if (!entry.is_in_use()) {
      if (sequence.is_linear() && !entry.was_emptied()) break;
      continue;
    }
    std::vector<std::byte> extent = read_extent(entry.pointer());
    if (std::ranges::equal(view_of(extent).key, key)) {
      return Found{.slot = sequence[index], .entry = entry, .extent = std::move(extent)};
    }
  }
  return std::nullopt;
}

std::optional<std::vector<std::byte>> HashMap::get(std::span<const std::byte> key) {
  const auto found = find(key);
  if (!found) return std::nullopt;
  const std::span<const std::byte> value = view_of(found->extent).value;
  return std::vector<std::byte>(value.begin(), value.end());
}

Entry HashMap::read_entry(std::uint64_t slot) {
  Entry entry;
  memory_->read(Geometry::entry_offset(slot), std::as_writable_bytes(std::span(&entry, 1)));
  return entry;
}

std::vector<std::byte> HashMap::read_extent(const ExtentPointer& pointer) {
  std::vector<std::byte> extent(pointer.bytes);
  memory_->read(geometry_.extent_offset(pointer), extent);
  return extent;
}

// Changing

std::uint32_t HashMap::next_changes(std::uint64_t slot) {
  return options_.safeguards.absence_validation ? read_entry(slot).changes() + 1 : 0;
}

void HashMap::write_entry(std::uint64_t slot, const ExtentPointer& pointer) {
  const Entry entry = make_entry(pointer, next_changes(slot));
  memory_->write(Geometry::entry_offset(slot), std::as_bytes(std::span(&entry, 1)));
}

void HashMap::empty_entry(std::uint64_t slot) {
  const Entry entry = make_empty_entry(options_.ways == 1, next_changes(slot));
  memory_->write(Geometry::entry_offset(slot), std::as_bytes(std::span(&entry, 1)));
}

ExtentPointer HashMap::overwrite_extent(std::uint64_t offset, std::span<const std::byte> extent) {
  const ExtentPointer pointer{.offset = offset,
                              .bytes = static_cast<std::uint32_t>(extent.size()),
                              .crc = checksum_.of(extent)};
  memory_->write(geometry_.extent_offset(pointer), extent);
  return pointer;
}

std::optional<ExtentPointer> HashMap::write_extent(std::span<const std::byte> extent) {
  const auto offset = allocator_.allocate(extent.size());
  if (!offset) return std::nullopt;
  return overwrite_extent(*offset, extent);
}

PutOutcome HashMap::put(std::span<const std::byte> key, std::span<const std::byte> value) {
  const std::vector<std::byte> extent = make_extent(key, value);
  const auto found = find(key);
  return found ? replace(*found, extent) : insert(key, extent);
}

PutOutcome HashMap::replace(const Found& found, std::span<const std::byte> extent) {
  const ExtentPointer old = found.entry.pointer();
  const bool fits = extent.size() <= allocator_.block_bytes_for(old.bytes);
  if (options_.update == Update::in_place_if_it_fits && fits) {
    write_entry(found.slot, overwrite_extent(old.offset, extent));
    return PutOutcome::stored;
  }
  const auto pointer = write_extent(extent);
  if (!pointer) return PutOutcome::extents_full;
  write_entry(found.slot, *pointer);
  allocator_.free(old.offset);
  return PutOutcome::stored;
}

PutOutcome HashMap::insert(std::span<const std::byte> key, std::span<const std::byte> extent) {
  const auto chain = plan_insertion(slots(key), view(), options_.max_kicks, random_);
  if (!chain) return PutOutcome::table_full;
  const auto pointer = write_extent(extent);
  if (!pointer) return PutOutcome::extents_full;
  carry_out(*chain, *pointer);
  ++keys_;
  return PutOutcome::stored;
}

TableView HashMap::view() {
  return {.is_in_use = [this](std::uint64_t slot) { return read_entry(slot).is_in_use(); },
          .slots_of_resident =
              [this](std::uint64_t slot) {
                const std::vector<std::byte> extent = read_extent(read_entry(slot).pointer());
                return slots(view_of(extent).key);
              }};
}

// From the end: a key that moves is in both slots until the key before it in the chain takes its
// old slot. From the start, each key overwrites the next one, which is then in no slot.
void HashMap::carry_out(const DisplacementChain& chain, const ExtentPointer& pointer) {
  std::vector<ExtentPointer> arriving{pointer};
  for (std::size_t index = 0; index + 1 < chain.size(); ++index) {
    arriving.push_back(read_entry(chain[index]).pointer());
  }
  for (std::size_t step = 0; step < chain.size(); ++step) {
    const std::size_t index =
        options_.safeguards.moves_from_the_end ? chain.size() - 1 - step : step;
    write_entry(chain[index], arriving[index]);
  }
}

bool HashMap::remove(std::span<const std::byte> key) {
  const auto found = find(key);
  if (!found) return false;
  empty_entry(found->slot);
  allocator_.free(found->entry.extent_offset);
  --keys_;
  return true;
}

// Growing

std::optional<HashMap::Placement> HashMap::place_all(const Geometry& larger) {
  const auto new_slots = [&](std::uint64_t old_slot) {
    const std::vector<std::byte> extent = read_extent(read_entry(old_slot).pointer());
    return slots_of(view_of(extent).key, larger.hash_seed, options_.ways, larger.table_entries);
  };
  Placement placement(larger.table_entries);
  const TableView view{
      .is_in_use = [&](std::uint64_t slot) { return placement[slot].has_value(); },
      .slots_of_resident = [&](std::uint64_t slot) { return new_slots(*placement[slot]); }};
  for (std::uint64_t old_slot = 0; old_slot < geometry_.table_entries; ++old_slot) {
    if (!read_entry(old_slot).is_in_use()) continue;
    const auto chain = plan_insertion(new_slots(old_slot), view, options_.max_kicks, random_);
    if (!chain) return std::nullopt;
    for (std::size_t index = chain->size() - 1; index > 0; --index) {
      placement[(*chain)[index]] = placement[(*chain)[index - 1]];
    }
    placement[chain->front()] = old_slot;
  }
  return placement;
}

void HashMap::move_to(const Geometry& larger, std::shared_ptr<fabric::MemoryBlock> memory,
                      const std::optional<Placement>& placement) {
  const std::span<std::byte> bytes = memory->bytes();
  const auto put_entry = [&](std::uint64_t slot, const Entry& entry) {
    std::memcpy(bytes.data() + Geometry::entry_offset(slot), &entry, sizeof entry);
  };
  for (std::uint64_t slot = 0; slot < larger.table_entries; ++slot) {
    const auto old_slot = placement ? (*placement)[slot] : std::optional(slot);
    put_entry(slot, old_slot ? read_entry(*old_slot) : make_empty_entry());
  }
  memory_->read(geometry_.extents_offset(),
                bytes.subspan(larger.extents_offset(), geometry_.extents_bytes));
  while (allocator_.total_bytes() < larger.extents_bytes) allocator_.grow();
  geometry_ = larger;
  memory_ = std::move(memory);
}

}  // namespace falafel::pilaf
