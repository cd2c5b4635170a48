#include "engine/server/table_maintenance.h"

#include <utility>

#include "engine/server/cleanup_by_rehash.h"
#include "engine/server/cleanup_by_shift.h"
#include "fabric/cooperative_cancellation.h"

namespace falafel::engine {

TableMaintenance::TableMaintenance(fabric::Host& host, const Chunk& chunk,
                                   const ServerOptions& options, const MemoryBook& book,
                                   EntryUpdater& updater, ContainerReader& reader,
                                   FiberMutex& moving, ServerStatistics& statistics,
                                   std::uint64_t rebindings,
                                   std::function<void(std::uint32_t client)> cleaned,
                                   std::function<void()> evict)
    : host_(host),
      chunk_(chunk),
      options_(options),
      moving_(moving),
      cleaned_(std::move(cleaned)),
      evict_(std::move(evict)),
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
}

void TableMaintenance::run() {
  while (wait_for_work()) {
    audit();
    if (is_wanted() || is_due()) clean();
  }
}

bool TableMaintenance::wait_for_work() {
  const fabric::CooperativeCancellation cooperative(host_);
  const std::uint64_t deadline_ns = host_.now_ns() + options_.cleanup_interval_ns;
  while (!is_wanted() && !host_.is_cancelled() && host_.now_ns() < deadline_ns) {
    changed_->wait(deadline_ns);
  }
  return !host_.is_cancelled();
}

void TableMaintenance::audit() {
  for (bool is_first = true, is_over = false; !is_over; is_first = false) {
    if (!is_first) host_.yield();
    const auto taking_turns = lock_if(options_.safeguards.exclusion, moving_);
    if (is_first) cleanup_->finish();
    is_over = audit_.walk_piece();
  }
}

bool TableMaintenance::is_due() const {
  const std::uint64_t deleted = audit_.deleted_entries();
  return deleted > 0 && deleted * 100 >= options_.cleanup_percent * chunk_.geometry.table_entries;
}

void TableMaintenance::clean() {
  is_cleaning_ = true;
  const std::uint64_t serves = asked_;
  const std::set<std::uint32_t> clients = std::exchange(waiting_clients_, {});
  if (!clients.empty() && audit_.deleted_entries() == 0) evict_();
  for (bool is_over = false; !is_over;) {
    {
      const auto taking_turns = lock_if(options_.safeguards.exclusion, moving_);
      is_over = cleanup_->clean_piece();
    }
    if (!is_over) host_.yield();
  }
  served_ = serves;
  is_cleaning_ = false;
  changed_->notify_all();
  for (const std::uint32_t client : clients) cleaned_(client);
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
