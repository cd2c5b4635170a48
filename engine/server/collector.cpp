#include "engine/server/collector.h"

#include "engine/probes.h"

namespace falafel::engine {

Collector::Collector(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
                     EntryUpdater& updater, MemoryBook& book, ServerStatistics& statistics)
    : host_(host),
      chunk_(chunk),
      safeguards_(safeguards),
      updater_(updater),
      book_(book),
      statistics_(statistics) {}

bool Collector::collect_regions(const std::function<void()>& free_early) {
  const auto is_source = [this](std::uint64_t offset) {
    const auto region = book_.region_at(offset);
    return region && book_.region(*region).state == RegionState::collecting;
  };
  return collect(is_source, book_.active_space(), free_early);
}

bool Collector::collect_mature_space(const std::function<void()>& free_early) {
  const std::uint32_t source = book_.active_space();
  const auto is_source = [this, source](std::uint64_t offset) {
    return book_.is_in_space(source, offset);
  };
  return collect(is_source, book_.other_space(), free_early);
}

bool Collector::points_into(const IsSource& is_source, Entry entry) const {
  return !entry.is_empty() && is_source(chunk_.geometry.to_offset(entry.offset_units()));
}

// Every entry that points into the source when the walk comes by is moved. None that does can appear
// behind it: clients publish containers only in regions that they hold.
bool Collector::collect(const IsSource& is_source, std::uint32_t target,
                        const std::function<void()>& free_early) {
  bool has_room = true;
  for (std::uint64_t slot = 0; has_room && slot < chunk_.geometry.table_entries; ++slot) {
    const Entry entry = chunk_.load_entry(slot);
    if (!points_into(is_source, entry)) continue;
    // Where collection and cleanup take turns there is none; else it is the cleanup's.
    if (entry.is_locked()) {
      FALAFEL_ASSERT(!safeguards_.exclusion, "slot {} is locked: {:016x}", slot, entry.word());
      continue;
    }
    if (entry.is_deleted()) host_.count(probes::collector_met_deleted);
    const auto moved = copy(entry, target);
    has_room = moved.has_value();
    if (!has_room) break;
    submit({.slot = slot,
            .expected = entry,
            .desired = safeguards_.tag_discipline ? moved->with_next_tag(chunk_.geometry.tag_bits)
                                                  : *moved},
           is_source);
  }
  if (!safeguards_.drain_before_free && has_room) free_early();
  while (const auto outcome = updater_.next()) settle(*outcome, is_source);
  return has_room;
}

// The entry of the copy. What does not verify is lost, and its entry deleted, so that a cleanup takes it.
std::optional<Entry> Collector::copy(Entry entry, std::uint32_t target) {
  const auto source = chunk_.read_container(
      entry, entry.is_deleted() ? Chunk::Part::key : Chunk::Part::key_and_value);
  if (!source) ++statistics_.containers_unreadable;
  std::vector<std::byte> bytes(source ? container_bytes(source->key.size(), source->value.size())
                                      : container_header_bytes);
  if (source) {
    write_container(source->key, source->value, bytes);
  } else {
    write_unreadable_container(bytes);
  }
  const auto offset = book_.allocate(target, bytes.size());
  if (!offset) return std::nullopt;
  chunk_.write(*offset, bytes);
  ++statistics_.containers_copied;
  const Entry moved = entry.moved_to(chunk_.geometry.to_units(*offset));
  return source ? moved : moved.with_deleted();
}

// The copy is in memory before the update is posted; so whoever sees the entry sees the container.
void Collector::submit(const EntryUpdate& update, const IsSource& is_source) {
  while (updater_.is_full()) settle(*updater_.next(), is_source);
  updater_.submit(update);
}

// A client came first: it overwrote the entry, which then points to a region of its own, or deleted it,
// which then still points to the source. The space of a copy in vain is not used again (4.2.4).
void Collector::settle(const UpdateOutcome& outcome, const IsSource& is_source) {
  if (outcome.succeeded) return;
  ++statistics_.updates_lost;
  host_.count(probes::collector_lost);
  const Entry current = outcome.current;
  const bool may_try_again = safeguards_.collector_retry && !current.is_locked();
  if (!may_try_again || !points_into(is_source, current)) return;
  host_.count(probes::collector_retried);
  Entry moved = current.moved_to(outcome.update.desired.offset_units());
  if (outcome.update.desired.is_deleted()) moved = moved.with_deleted();
  submit({.slot = outcome.update.slot,
          .expected = current,
          .desired =
              safeguards_.tag_discipline ? moved.with_next_tag(chunk_.geometry.tag_bits) : moved},
         is_source);
}

std::uint64_t Collector::live_mature_bytes() const {
  const Geometry& geometry = chunk_.geometry;
  std::uint64_t live_bytes = 0;
  for (std::uint64_t slot = 0; slot < geometry.table_entries; ++slot) {
    const Entry entry = chunk_.load_entry(slot);
    if (entry.is_empty()) continue;
    const std::uint64_t offset = geometry.to_offset(entry.offset_units());
    if (!book_.is_in_space(book_.active_space(), offset)) continue;
    const auto container = chunk_.read_container(entry, Chunk::Part::key);
    if (!container) {
      live_bytes += geometry.round_up_to_unit(container_header_bytes);
    } else {
      live_bytes += geometry.round_up_to_unit(
          entry.is_deleted() ? container->header.key_end() : container->header.container_bytes());
    }
  }
  return live_bytes;
}

}  // namespace falafel::engine
