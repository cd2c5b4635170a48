#include "engine/server/server_state.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/layout/access_report.h"
#include "engine/local_memory.h"
#include "engine/probes.h"
#include "engine/server/blocks.h"
#include "engine/server/kept_chunk.h"
#include "engine/server/loopback_updater.h"
#include "engine/server/memory_recovery.h"
#include "engine/server/processor_updater.h"
#include "engine/server/semi_spaces.h"
#include "engine/server/table_recovery.h"
#include "fabric/cooperative_cancellation.h"

namespace falafel::engine {
namespace {

tl::unexpected<fabric::Error> lacks_memory() {
  return fabric::make_error(fabric::ErrorCode::out_of_memory,
                            "the system has too little memory for what the store holds; free some");
}

}  // namespace

ServerState::ServerState(fabric::Host& owner, const ServerOptions& server_options)
    : host_(owner), options_(server_options), moving_(owner) {}

// Start and end

fabric::Result<void> ServerState::start() {
  if (auto prepared = prepare_memory(); !prepared) return prepared;
  if (auto prepared = prepare_network(); !prepared) return prepared;
  spawn("accept", &ServerState::accept_connections);
  auto for_collector = make_updater();
  if (!for_collector) return tl::unexpected(for_collector.error());
  collector_updater_ = std::move(*for_collector);
  auto for_cleanup = make_updater();
  if (!for_cleanup) return tl::unexpected(for_cleanup.error());
  cleanup_updater_ = std::move(*for_cleanup);
  collector_.emplace(host_, chunk_, options_, *collector_updater_, *book_, statistics_);
  if (auto prepared = prepare_reader(); !prepared) return prepared;
  if (options_.evicts) {
    auto for_eviction = make_updater();
    if (!for_eviction) return tl::unexpected(for_eviction.error());
    eviction_updater_ = std::move(*for_eviction);
    if (options_.safeguards.bounded_walks) {
      chunk_.ages = &ages_.emplace(host_, chunk_.geometry.slot_count());
    }
    eviction_.emplace(host_, chunk_, options_, *book_, *eviction_updater_, *reader_, moving_,
                      statistics_);
  }
  maintenance_.emplace(host_, chunk_, options_, *book_, *cleanup_updater_, *reader_, moving_,
                       statistics_, rebindings_, *membership_, eviction_ ? &*eviction_ : nullptr);
  if (eviction_) {
    memory_eviction_.emplace(options_, *book_, statistics_, *eviction_, *maintenance_, *mature_);
  }
  collection_.emplace(host_, options_, *book_, *collector_, *reclamation_, *grants_, *mature_,
                      moving_, statistics_);
  spawn("messages", &ServerState::receive_messages);
  spawn("membership", &ServerState::watch_clients);
  spawn("grants", &ServerState::grant_regions);
  spawn("collector", &ServerState::collect_garbage);
  spawn("cleanup", &ServerState::maintain_table);
  if (mature_->has_fiber()) spawn("cleaner", &ServerState::clean_mature_space);
  return {};
}

void ServerState::stop() {
  for (const fabric::FiberId fiber : fibers_) host_.cancel(fiber);
  fibers_.clear();
}

void ServerState::stop_and_wait() {
  const std::vector<fabric::FiberId> fibers = fibers_;
  stop();
  for (const fabric::FiberId fiber : fibers) host_.join(fiber);
}

void ServerState::spawn(std::string_view name, void (ServerState::*body)()) {
  fibers_.push_back(host_.spawn({.name = name, .daemon = true},
                                [self = shared_from_this(), body] { (self.get()->*body)(); }));
}

fabric::Result<void> ServerState::prepare_memory() {
  auto opened = open_chunk(host_, options_);
  if (!opened) return tl::unexpected(opened.error());
  chunk_ = std::move(opened->chunk);
  book_.emplace(options_.geometry, !options_.memory_grows);
  held_.emplace(options_.geometry, options_.memory_grows, chunk_.block, book_->mature(),
                statistics_.commits_refused);
  chunk_.held = &*held_;
  if (!opened->is_new) {
    if (auto recovered = recover(); !recovered) return recovered;
  }
  return hold_first_blocks();
}

fabric::Result<void> ServerState::recover() {
  if (chunk_.tables.are_growing()) host_.count(probes::recovery_met_growth);
  MemoryRecovery memory(host_, chunk_, options_, *book_, *held_, statistics_);
  if (!held_->hold_tables(chunk_.tables.last) || !memory.hold_data()) return lacks_memory();
  rebindings_ = TableRecovery(host_, chunk_, options_).run();
  if (!memory.run()) return lacks_memory();
  return {};
}

// The active block, and as many others as the options want.
fabric::Result<void> ServerState::hold_first_blocks() {
  if (!held_->hold_block(book_->mature().active())) return lacks_memory();
  while (held_->grows() && held_->held_bytes() < options_.least_held_bytes &&
         book_->mature().not_held_count() > 0) {
    if (!held_->hold_another_block()) return lacks_memory();
  }
  return {};
}

fabric::Result<void> ServerState::prepare_network() {
  fabric::Device& device = host_.device(0);
  domain_ = device.create_protection_domain();
  auto table = domain_->register_memory(
      chunk_.block, Geometry::table_offset(), chunk_.geometry.table_entries * entry_bytes,
      {.local_write = true, .remote_read = true, .remote_atomic = true});
  if (!table) return tl::unexpected(table.error());
  table_ = std::move(*table);
  if (chunk_.geometry.can_grow()) {
    auto later_tables = domain_->register_memory(
        chunk_.block, chunk_.geometry.later_tables_offset(), chunk_.geometry.later_tables_bytes(),
        {.local_write = true, .remote_read = true, .remote_atomic = true});
    if (!later_tables) return tl::unexpected(later_tables.error());
    later_tables_ = std::move(*later_tables);
  }
  auto completions =
      device.create_completion_queue(options_.max_clients * Membership::completions_per_client());
  if (!completions) return tl::unexpected(completions.error());
  completions_ = std::move(*completions);
  auto listener = device.listen(options_.service);
  if (!listener) return tl::unexpected(listener.error());
  listener_ = std::move(*listener);
  ClientEvents& events = *this;
  membership_.emplace(host_, chunk_, options_, *completions_, events);
  reclamation_.emplace(*membership_);
  ends_.emplace(*membership_);
  mature_ = make_mature_space();
  grants_.emplace(host_, options_, *book_, *held_, *membership_, statistics_, *mature_);
  loopback_.emplace(host_, *domain_, options_);
  return {};
}

std::unique_ptr<MatureSpace> ServerState::make_mature_space() {
  MatureSpaceControl& control = *this;
  if (chunk_.geometry.has_blocks()) {
    return std::make_unique<Blocks>(host_, options_, *book_, *held_, statistics_, control);
  }
  return std::make_unique<SemiSpaces>(host_, options_, *book_, statistics_, control);
}

fabric::Result<std::unique_ptr<EntryUpdater>> ServerState::make_updater() {
  if (host_.device(0).attributes().atomic_capability == fabric::AtomicCapability::global) {
    return std::make_unique<ProcessorUpdater>(chunk_);
  }
  auto results =
      allocate_local_memory(host_, *domain_, options_.pipelined_updates * fabric::word_bytes);
  if (!results) return tl::unexpected(results.error());
  return std::make_unique<LoopbackUpdater>(host_, chunk_, *loopback_, table_->remote_key(),
                                           later_tables_ ? later_tables_->remote_key() : 0,
                                           std::move(*results));
}

fabric::Result<void> ServerState::prepare_reader() {
  auto chunk = domain_->register_memory(chunk_.block, 0, chunk_.geometry.chunk_bytes(),
                                        {.remote_read = true});
  if (!chunk) return tl::unexpected(chunk.error());
  whole_chunk_ = std::move(*chunk);
  auto buffer = allocate_local_memory(host_, *domain_, longest_request_bytes);
  if (!buffer) return tl::unexpected(buffer.error());
  reader_.emplace(host_, chunk_, *book_, *loopback_, whole_chunk_->remote_key(),
                  std::move(*buffer));
  return {};
}

std::unique_ptr<fabric::ConnectionRequest> ServerState::next_request() {
  const fabric::CooperativeCancellation cooperative(host_);
  return listener_->accept(fabric::never_ns);
}

void ServerState::accept_connections() {
  for (;;) {
    const auto request = next_request();
    if (host_.is_cancelled()) return;
    const auto hello = from_bytes<ClientHello>(request->private_data());
    if (hello && hello->magic == hello_magic && loopback_->is_own(hello->loopback_secret)) {
      loopback_->accept(*request);
    } else {
      membership_->accept(*request);
    }
  }
}

// Events of clients

void ServerState::on_joined(std::uint32_t client) {
  reclamation_->add_client(client);
  ends_->add_client(client);
}

void ServerState::on_message(std::uint32_t client, const ControlMessage& message) {
  switch (message.kind) {
    case MessageKind::request_region:
      maintenance_->on_insertions();
      return grants_->add({.client = client, .need = message.need});
    case MessageKind::release_region: return on_released(client, message);
    case MessageKind::heartbeat: return on_heartbeat(client, message);
    case MessageKind::request_cleanup:
      if (!maintenance_->request_cleanup(client)) {
        membership_->expel(client, Breach::too_many_messages);
      }
      return;
    case MessageKind::request_end:
      if (!ends_->request(client)) membership_->expel(client, Breach::too_many_messages);
      return;
    case MessageKind::operations_ended: return on_ended(client, message);
    case MessageKind::report_accesses: return note_accesses(client, message);
    case MessageKind::report_freed: return mature_->on_freed();
    case MessageKind::goodbye:
    case MessageKind::grant_region:
    case MessageKind::deny_region:
    case MessageKind::ask_for_quiescence:
    case MessageKind::acknowledge:
    case MessageKind::cleanup_done:
    case MessageKind::ask_for_end:
    case MessageKind::all_ended:
    case MessageKind::return_regions: return;
  }
}

void ServerState::on_released(std::uint32_t client, const ControlMessage& message) {
  if (!book_->release(message.region, client, message.incarnation)) {
    return membership_->expel(client, Breach::malformed_message);
  }
  if (options_.safeguards.fence_before_reclaim) {
    membership_->revoke_region(client, message.region);
  }
  grants_->on_released(client);
  collection_->on_memory_changed();
}

void ServerState::on_heartbeat(std::uint32_t client, const ControlMessage& message) {
  if (reclamation_->is_answer(client, message.epoch)) {
    membership_->answered(client, Question::quiescence);
  } else if (reclamation_->is_unheard_of(client, message.epoch)) {
    membership_->expel(client, Breach::malformed_message);
  }
  reclamation_->on_quiescent(client, message.epoch);
  collection_->free_reclaimed();
}

void ServerState::on_ended(std::uint32_t client, const ControlMessage& message) {
  if (!ends_->is_answer(client, message.epoch)) {
    return membership_->expel(client, Breach::malformed_message);
  }
  membership_->answered(client, Question::end);
  ends_->on_ended(client, message.epoch);
}

void ServerState::note_accesses(std::uint32_t client, const ControlMessage& message) {
  const auto report = to_access_report(message, chunk_.geometry.slot_count());
  if (!report || !chunk_.geometry.values_expire) {
    return membership_->expel(client, Breach::malformed_message);
  }
  if (!eviction_) return;
  for (const std::uint64_t slot : report->all()) eviction_->on_accessed(slot);
}

// READs of a fenced client no longer return data, so what it has read delays nobody. A
// compare-and-swap of it that has not landed yet succeeds only if the word is unchanged, and tags
// make changed words different. It reports no longer what it has freed.
void ServerState::on_left(std::uint32_t client) {
  mature_->on_freed();
  grants_->remove_client(client);
  reclamation_->remove_client(client);
  collection_->free_reclaimed();
  maintenance_->remove_client(client);
  ends_->drop_request(client);
  collection_->on_memory_changed();
}

void ServerState::on_gone(std::uint32_t client) {
  book_->release_all(client);
  ends_->remove_client(client);
  collection_->on_memory_changed();
}

// Inspection

ServerBooks ServerState::books() const {
  ServerBooks books = book_->books();
  books.requests_denied = grants_->denied(RegionNeed::waiting);
  books.overwrites_denied = grants_->denied(RegionNeed::overwrite);
  books.measured = mature_->measured();
  books.cleanups = statistics_.cleanups;
  books.regions_granted = statistics_.regions_granted;
  books.regions_asked_back = statistics_.regions_asked_back;
  return books;
}

std::uint64_t ServerState::denials() const {
  return grants_->denied(RegionNeed::waiting) + grants_->denied(RegionNeed::overwrite);
}

ServerInspection ServerState::inspect() const {
  ServerInspection inspection{.regions = book_->regions(),
                              .mature_spaces = book_->mature().all(),
                              .clients = membership_->clients(),
                              .requests_waiting = grants_->waiting_count(),
                              .statistics = statistics_,
                              .tables = chunk_.tables,
                              .held_bytes = held_->held_bytes(),
                              .last_breach = membership_->last_breach(),
                              .idle = false};
  for (ClientInspection& client : inspection.clients) {
    client.awaited = reclamation_->is_awaited(client.number);
  }
  membership_->count_into(inspection.statistics);
  inspection.idle = collection_->is_idle() && grants_->is_idle() && !reclamation_->is_waiting() &&
                    book_->count(RegionState::released) == 0 &&
                    book_->count(RegionState::collecting) == 0 && !membership_->is_retiring() &&
                    !maintenance_->is_busy() && !moving_.is_locked() && mature_->is_idle() &&
                    !(eviction_ && eviction_->is_running());
  return inspection;
}

}  // namespace falafel::engine
