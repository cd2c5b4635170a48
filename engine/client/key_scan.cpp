#include "engine/client/key_scan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/client/damaged_container.h"
#include "engine/client/examination.h"
#include "engine/client/pending_operation.h"
#include "engine/layout/container.h"
#include "engine/layout/entry.h"
#include "engine/layout/expiry.h"
#include "engine/probes.h"

namespace falafel::engine {
namespace {

struct Slots {
  std::uint64_t first = 0;
  std::uint64_t count = 0;  // does not go beyond the end of the table
};

struct OwnedPair {
  std::vector<std::byte> key;
  std::vector<std::byte> value;
  std::uint64_t time_to_live_ns = 0;
};

// The contents of a chunk.
struct ChunkContents {
  std::vector<OwnedPair> pairs;
  std::vector<DamagedContainer> damaged;
};

// One attempt to read the pairs of a chunk.
class ChunkScan {
 public:
  // `by_counter`: accept any changes between the two readings if the server's counter of rebindings
  // shows that no entry was moved.
  ChunkScan(PendingOperation& operation, const Slots& slots, bool by_counter,
            ChunkContents& contents)
      : operation_(operation),
        buffers_(operation.buffers()),
        slots_(slots),
        by_counter_(by_counter),
        contents_(contents) {}

  // Waits. Returns `found` if all pairs were read, `corrupted` if all were read but those of
  // damaged containers, nullopt for another attempt.
  std::optional<Answer> run();
  bool met_lock() const { return met_lock_; }
  bool met_change() const { return met_change_; }

 private:
  struct LiveEntry {
    std::uint64_t slot = 0;
    Entry entry{};
    LoadedContainer container{};
  };

  // Returns `found` to go on, otherwise as run().
  std::optional<Answer> read_words();
  bool read(std::uint64_t buffer);
  bool has_lock() const;
  bool may_hide_a_key() const;
  void collect_live_entries();
  bool may_hold_container(Entry entry) const;
  // Fills the batch with the live entry at `index` and as many others as fit into the buffer.
  // Returns the first one that is not among them.
  std::size_t fill_batch(std::size_t index);
  bool read_batch();
  // These return `found` to go on, otherwise as run().
  std::optional<Answer> take_batch();
  std::optional<Answer> take(LiveEntry live);
  std::optional<Answer> skip_unreadable(const LiveEntry& live);
  std::optional<Answer> skip_unreadable(const LiveEntry& live, std::span<const std::byte> key);
  std::optional<Answer> skip(const LiveEntry& live, DamagedContainer damaged);
  void take_pair(std::span<const std::byte> key, std::span<const std::byte> value);

  PendingOperation& operation_;
  OperationBuffers& buffers_;
  Slots slots_;
  bool by_counter_;
  ChunkContents& contents_;
  std::vector<LiveEntry> live_;  // of both readings
  std::span<LiveEntry> batch_;   // entries that one chain reads
  bool met_lock_ = false;
  bool met_change_ = false;
};

std::optional<Answer> ChunkScan::run() {
  if (const auto answer = read_words(); answer != Answer::found) return answer;
  collect_live_entries();
  for (std::size_t next = 0; next < live_.size();) {
    next = fill_batch(next);
    if (!read_batch()) return Answer::disconnected;
    if (const auto answer = take_batch(); answer != Answer::found) return answer;
    if (next < live_.size() && operation_.has_walked_too_long()) return Answer::timed_out;
  }
  return contents_.damaged.empty() ? Answer::found : Answer::corrupted;
}

std::optional<Answer> ChunkScan::read_words() {
  std::optional<std::uint64_t> rebindings;
  if (by_counter_) rebindings = operation_.read_rebindings();
  if (by_counter_ && !rebindings) return Answer::disconnected;
  if (!read(OperationBuffers::first_reading) || !read(OperationBuffers::second_reading)) {
    return Answer::disconnected;
  }
  met_lock_ = has_lock();
  if (met_lock_) {
    operation_.count(probes::restart_at_lock);
    return std::nullopt;
  }
  if (!may_hide_a_key()) return Answer::found;
  if (by_counter_ && *rebindings % 2 == 0) {
    const auto rebindings_after = operation_.read_rebindings();
    if (!rebindings_after) return Answer::disconnected;
    if (*rebindings_after == *rebindings) return Answer::found;
  }
  operation_.count(probes::restart_at_changed_walk);
  met_change_ = true;
  return std::nullopt;
}

bool ChunkScan::read(std::uint64_t buffer) {
  auto request = buffers_.read_entries(slots_.first, slots_.count, buffer);
  return operation_.read({&request, 1});
}

bool ChunkScan::has_lock() const {
  for (std::uint64_t index = 0; index < slots_.count; ++index) {
    if (buffers_.entry(OperationBuffers::first_reading, index).is_locked()) return true;
    if (buffers_.entry(OperationBuffers::second_reading, index).is_locked()) return true;
  }
  return false;
}

// Returns whether an entry may have been moved to one of these slots and away again between its two
// readings (engine/client/key_scan.h).
bool ChunkScan::may_hide_a_key() const {
  const std::uint32_t tag_bits = operation_.geometry().tag_bits;
  for (std::uint64_t index = 0; index < slots_.count; ++index) {
    const Entry first = buffers_.entry(OperationBuffers::first_reading, index);
    const std::uint32_t tag = buffers_.entry(OperationBuffers::second_reading, index).tag();
    if (tag != first.tag() && tag != first.with_next_tag(tag_bits).tag()) return true;
  }
  return false;
}

void ChunkScan::collect_live_entries() {
  const auto add = [&](std::uint64_t index, Entry entry) {
    if (entry.is_empty() || entry.is_deleted()) return;
    live_.push_back({.slot = slots_.first + index, .entry = entry});
  };
  for (std::uint64_t index = 0; index < slots_.count; ++index) {
    const Entry first = buffers_.entry(OperationBuffers::first_reading, index);
    const Entry second = buffers_.entry(OperationBuffers::second_reading, index);
    add(index, first);
    if (second != first) add(index, second);
  }
}

bool ChunkScan::may_hold_container(Entry entry) const {
  const Geometry& geometry = operation_.geometry();
  return geometry.may_hold_container(geometry.to_offset(entry.reference()));
}

std::size_t ChunkScan::fill_batch(std::size_t index) {
  const std::size_t begin = index;
  const std::size_t end = std::min<std::size_t>(
      live_.size(), begin + operation_.session().options().readahead.containers);
  std::uint64_t used_bytes = 0;
  for (; index < end; ++index) {
    LiveEntry& live = live_[index];
    if (!may_hold_container(live.entry)) continue;
    live.container = buffers_.container_of(live.entry, used_bytes);
    used_bytes += live.container.loaded_bytes;
    if (used_bytes > buffers_.container_buffer_bytes()) break;
  }
  batch_ = std::span(live_).subspan(begin, index - begin);
  return index;
}

bool ChunkScan::read_batch() {
  std::vector<fabric::WorkRequest>& chain = buffers_.empty_chain();
  for (const LiveEntry& live : batch_) {
    if (live.container.loaded_bytes > 0) chain.push_back(buffers_.read_container(live.container));
  }
  return chain.empty() || operation_.read(chain);
}

std::optional<Answer> ChunkScan::take_batch() {
  for (const LiveEntry& live : batch_) {
    if (const auto taken = take(live); taken != Answer::found) return taken;
  }
  return Answer::found;
}

// The container does not change while the operation lasts, even if the entry does.
std::optional<Answer> ChunkScan::take(LiveEntry live) {
  LoadedContainer& container = live.container;
  if (container.loaded_bytes == 0) return skip_unreadable(live);
  const auto header = examine_header(operation_, container);
  operation_.spend_on_checksum(container_header_bytes);
  if (!header) return skip_unreadable(live);
  switch (operation_.load_through(container, header->container_bytes())) {
    case PendingOperation::Load::done: break;
    case PendingOperation::Load::out_of_memory: return Answer::out_of_memory;
    case PendingOperation::Load::disconnected: return Answer::disconnected;
  }
  const auto key = read_container_key(container.bytes(), *header, operation_.verification());
  const auto value = read_container_value(container.bytes(), *header, operation_.verification());
  operation_.spend_on_checksum(std::uint64_t{header->key_bytes} + header->value_bytes);
  if (!key) return skip_unreadable(live);
  if (!value) return skip_unreadable(live, *key);
  if (key->empty()) return Answer::found;  // the stand-in; a hostile client has revived the entry
  take_pair(*key, *value);
  return Answer::found;
}

std::optional<Answer> ChunkScan::skip_unreadable(const LiveEntry& live) {
  return skip(live, {.slot = live.slot, .entry = live.entry});
}

std::optional<Answer> ChunkScan::skip_unreadable(const LiveEntry& live,
                                                 std::span<const std::byte> key) {
  return skip(live, {.slot = live.slot,
                     .entry = live.entry,
                     .key = std::vector<std::byte>(key.begin(), key.end())});
}

std::optional<Answer> ChunkScan::skip(const LiveEntry& live, DamagedContainer damaged) {
  if (!operation_.note_bad_checksum(live.slot, live.entry)) return std::nullopt;
  if (live.container.loaded_bytes > 0) damaged.damage = damage_of(live.container.bytes());
  contents_.damaged.push_back(std::move(damaged));
  return Answer::found;
}

void ChunkScan::take_pair(std::span<const std::byte> key, std::span<const std::byte> value) {
  const Geometry& geometry = operation_.geometry();
  std::uint64_t time_to_live_ns = 0;
  if (geometry.values_expire) {
    const std::uint64_t wall_clock_ns = operation_.host().wall_clock_ns();
    if (is_expired(value, wall_clock_ns)) return;
    time_to_live_ns = time_to_live_left(value, wall_clock_ns);
    value = without_expiry(geometry, value);
  }
  operation_.spend(fabric::Work::copy, key.size() + value.size());
  contents_.pairs.push_back({.key{key.begin(), key.end()},
                             .value{value.begin(), value.end()},
                             .time_to_live_ns = time_to_live_ns});
}

// Reads the pairs of a chunk. Returns `found` or `corrupted` as ChunkScan::run().
Answer read_pairs(const OperationContext& context, const Slots& slots, ChunkContents& contents) {
  PendingOperation operation(context);
  operation.begin();
  bool by_counter = false;  // costs two round trips, but a key that others overwrite needs it
  for (std::uint32_t locks_met = 0; !operation.is_overdue();) {
    contents.pairs.clear();
    contents.damaged.clear();
    ChunkScan scan(operation, slots, by_counter, contents);
    try {
      if (const auto answer = scan.run()) return *answer;
    } catch (const std::bad_alloc&) {
      return Answer::out_of_memory;
    }
    operation.restart();
    by_counter = by_counter || scan.met_change();
    if (scan.met_lock()) operation.wait_for_unlock(locks_met++);
  }
  return Answer::timed_out;
}

// Returns nullopt if it finds none.
tl::expected<std::optional<std::uint64_t>, Answer> find_empty_slot(const OperationContext& context,
                                                                   const Slots& table) {
  PendingOperation operation(context);
  OperationBuffers& buffers = operation.buffers();
  for (std::uint64_t done = 0; done < table.count;) {
    const std::uint64_t count = std::min(buffers.chunk_entries(), table.count - done);
    auto request = buffers.read_entries(table.first + done, count, OperationBuffers::first_reading);
    operation.begin();
    if (!operation.read({&request, 1})) return tl::unexpected(Answer::disconnected);
    for (std::uint64_t index = 0; index < count; ++index) {
      const Entry entry = buffers.entry(OperationBuffers::first_reading, index);
      if (entry.is_empty() && !entry.is_locked()) return table.first + done + index;
    }
    done += count;
  }
  return std::nullopt;
}

tl::expected<Tables, Answer> read_tables(const OperationContext& context) {
  const Session& session = *context.session;
  if (!session.server().geometry.can_grow()) return session.tables();
  PendingOperation operation(context);
  operation.begin();
  if (!operation.read_tables()) return tl::unexpected(Answer::disconnected);
  return session.tables();
}

// Scans one table. Returns whether containers were damaged.
tl::expected<bool, Answer> scan_table(const OperationContext& context, const Slots& table,
                                      const VisitPair& visit, const VisitDamaged& visit_damaged) {
  const auto empty_slot = find_empty_slot(context, table);
  if (!empty_slot) return tl::unexpected(empty_slot.error());
  // the chunks before it remain, around the table
  std::uint64_t end = empty_slot->value_or(table.first);
  std::uint64_t left = *empty_slot ? table.count - 1 : 2 * table.count - 1;
  bool has_damaged = false;
  ChunkContents contents;
  while (left > 0) {
    if (end == table.first) end = table.first + table.count;
    const std::uint64_t count =
        std::min({context.session->slots().chunk_entries(), end - table.first, left});
    end -= count;
    left -= count;
    const Answer answer = read_pairs(context, {.first = end, .count = count}, contents);
    has_damaged = has_damaged || answer == Answer::corrupted;
    if (answer != Answer::found && answer != Answer::corrupted) return tl::unexpected(answer);
    for (const OwnedPair& pair : contents.pairs) {
      visit({.key = pair.key, .value = pair.value, .time_to_live_ns = pair.time_to_live_ns});
    }
    if (!visit_damaged) continue;
    for (const DamagedContainer& damaged : contents.damaged) visit_damaged(damaged);
  }
  return has_damaged;
}

}  // namespace

tl::expected<void, Answer> for_each_key(const OperationContext& context, const VisitPair& visit,
                                        const VisitDamaged& visit_damaged) {
  const Geometry& geometry = context.session->server().geometry;
  auto tables = read_tables(context);
  if (!tables) return tl::unexpected(tables.error());
  bool has_damaged = false;
  for (std::uint32_t table = tables->first; table <= tables->last; ++table) {
    const Slots slots{.first = geometry.first_slot(table), .count = geometry.entries_of(table)};
    const auto scanned = scan_table(context, slots, visit, visit_damaged);
    if (!scanned) return tl::unexpected(scanned.error());
    has_damaged = has_damaged || *scanned;
    if (table < tables->last) continue;
    tables = read_tables(context);
    if (!tables) return tl::unexpected(tables.error());
  }
  if (has_damaged) return tl::unexpected(Answer::corrupted);
  return {};
}

}  // namespace falafel::engine
