#include "engine/server/table_maintenance.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engine/server/cleanup_by_shift.h"
#include "engine/server/published/cleanup_by_rehash.h"
#include "fabric/cooperative_cancellation.h"

namespace falafel::engine {
namespace {

constexpr std::uint64_t most_samples = 256;
// The table grows when it is filled to this share, unless that many entries are deleted.
constexpr std::uint64_t growth_percent = 75;
constexpr std::uint64_t cleanup_instead_percent = 25;

}  // namespace

TableMaintenance::TableMaintenance(fabric::Host& host, Chunk& chunk, const ServerOptions& options,
                                   const MemoryBook& book, EntryUpdater& updater,
                                   ContainerReader& reader, FiberMutex& moving,
                                   ServerStatistics& statistics, std::uint64_t rebindings,
                                   Membership& membership, Eviction* eviction)
    : host_(host),
      chunk_(chunk),
      options_(options),
      moving_(moving),
      membership_(membership),
      eviction_(eviction),
      rebindings_(chunk, rebindings),
      audit_(host, chunk, options.safeguards, book, updater, reader, statistics),
      changed_(host.create_event()) {
  if (options.safeguards.bounded_walks) {
    cleanup_ = std::make_unique<CleanupByShift>(host, chunk, options.safeguards, updater, reader,
                                                rebindings_, statistics);
  } else {
    cleanup_ = std::make_unique<CleanupByRehash>(host, chunk, options.safeguards, updater,
                                                 rebindings_, statistics);
  }
  if (chunk.geometry.can_grow()) {
    const auto read_key = [&reader](Entry entry) -> std::optional<std::vector<std::byte>> {
      auto container = reader.read(entry, Chunk::Part::key);
      if (!container || container->key.empty()) return std::nullopt;
      return std::move(container->key);
    };
    growth_.emplace(host, chunk, options.safeguards, updater, read_key,
                    GrowthCounters{.tables_begun = statistics.tables_begun,
                                   .entries_moved = statistics.entries_moved,
                                   .containers_unreadable = statistics.containers_unreadable,
                                   .updates_lost = statistics.updates_lost});
  }
}

void TableMaintenance::run() {
  while (wait_for_work()) {
    if (growth_) grow();
    if (!is_wanted() && host_.now_ns() < next_audit_ns_) continue;
    next_audit_ns_ = 0;
    audit();
    if (is_wanted() || is_due()) clean();
  }
}

bool TableMaintenance::wait_for_work() {
  const fabric::CooperativeCancellation cooperative(host_);
  if (next_audit_ns_ == 0) next_audit_ns_ = host_.now_ns() + options_.cleanup_interval_ns;
  while (!is_wanted() && !has_growth_work() && !host_.is_cancelled() &&
         host_.now_ns() < next_audit_ns_) {
    changed_->wait(next_audit_ns_);
  }
  return !host_.is_cancelled();
}

void TableMaintenance::audit() {
  for (bool is_first = true, is_over = false; !is_over; is_first = false) {
    if (!is_first) host_.yield();
    const auto taking_turns = lock_if(options_.safeguards.exclusion, moving_);
    if (is_first) cleanup_->finish();
    if (is_first && growth_) growth_->finish();
    is_over = audit_.walk_piece();
  }
  if (growth_) growth_->try_again();
}

bool TableMaintenance::is_due() const {
  const std::uint64_t deleted = audit_.deleted_entries();
  return deleted > 0 && deleted * 100 >= options_.cleanup_percent * chunk_.last_table_entries();
}

void TableMaintenance::clean() {
  is_cleaning_ = true;
  const std::uint64_t serves = asked_;
  const std::set<std::uint32_t> clients = std::exchange(waiting_clients_, {});
  const bool begins_growth = !clients.empty() && has_to_grow() && begin_growth();
  // A client that was late has found no room, but there may be some by now.
  const bool has_room = begins_growth || (growth_ && growth_->may_begin() && !is_full());
  const bool is_asked = served_ < serves;
  const bool needs_pass = is_asked || !has_room || (!begins_growth && is_due());
  if (needs_pass) {
    const bool lacks_deleted = !clients.empty() && audit_.deleted_entries() == 0;
    if (lacks_deleted && eviction_ != nullptr) {
      eviction_->free_entries(evicted_part(options_, chunk_.last_table_entries()));
    }
    clean_pass();
  }
  served_ = serves;
  is_cleaning_ = false;
  changed_->notify_all();
  for (const std::uint32_t client : clients) {
    membership_.send(client, {.kind = MessageKind::cleanup_done});
  }
}

void TableMaintenance::clean_pass() {
  for (bool is_over = false; !is_over;) {
    {
      const auto taking_turns = lock_if(options_.safeguards.exclusion, moving_);
      is_over = cleanup_->clean_piece();
    }
    if (!is_over) host_.yield();
  }
  if (growth_) growth_->try_again();
}

// Growth

bool TableMaintenance::is_full() const {
  return audit_.occupied_entries() == chunk_.last_table_entries();
}

// If half of a full table is deleted, a cleanup makes as much room as another table.
bool TableMaintenance::has_to_grow() const {
  return growth_ && growth_->may_begin() && is_full() &&
         2 * audit_.deleted_entries() < chunk_.last_table_entries();
}

void TableMaintenance::on_insertions() {
  if (!growth_ || !growth_->may_begin()) return;
  may_be_filled_ = true;
  changed_->notify_all();
}

void TableMaintenance::grow() {
  if (std::exchange(may_be_filled_, false)) look_at_fill();
  if (!growth_->has_work()) return;
  {
    const auto taking_turns = lock_if(options_.safeguards.exclusion, moving_);
    cleanup_->finish();
    growth_->work_piece();
  }
  host_.yield();
}

// Counts a sample of the entries.
void TableMaintenance::look_at_fill() {
  if (!growth_->may_begin()) return;
  const std::uint64_t entries = chunk_.last_table_entries();
  const std::uint64_t samples = std::min(entries, most_samples);
  std::uint64_t occupied = 0;
  std::uint64_t deleted = 0;
  for (std::uint64_t sample = 0; sample < samples; ++sample) {
    const Entry entry = chunk_.load_entry(chunk_.last_table_begin() + sample * (entries / samples));
    if (!entry.is_empty()) ++occupied;
    if (entry.is_deleted()) ++deleted;
  }
  if (100 * occupied < growth_percent * samples) return;
  if (100 * deleted >= cleanup_instead_percent * samples) return ask_for_cleanup();
  static_cast<void>(begin_growth());
}

bool TableMaintenance::begin_growth() {
  const auto taking_turns = lock_if(options_.safeguards.exclusion, moving_);
  cleanup_->finish();
  growth_->finish();
  return growth_->begin();
}

void TableMaintenance::clean_up() {
  const std::uint64_t number = ++asked_;
  changed_->notify_all();
  while (served_ < number) changed_->wait(fabric::never_ns);
}

void TableMaintenance::ask_for_cleanup() {
  if (is_wanted()) return;
  ++asked_;
  changed_->notify_all();
}

bool TableMaintenance::request_cleanup(std::uint32_t client) {
  if (!waiting_clients_.insert(client).second) return false;
  changed_->notify_all();
  return true;
}

}  // namespace falafel::engine
