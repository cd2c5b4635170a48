#include "tools/scenarios/store/operation_watch.h"

#include <algorithm>
#include <utility>

#include "engine/layout/container.h"

namespace falafel::store_scenario {
namespace {

using checkers::Judgement;
using checkers::Verdict;

// Several times the network's time-out plus the back-off of operations at locks.
constexpr std::uint64_t longest_network_wait_ns = 10'000'000;

// While the server is stopped, an operation can wait for three time-outs: for a region, at a lock,
// and for a cleanup.
std::uint64_t longest_wait_for_server_ns(const Scenario& scenario) {
  const bool may_stop = scenario.simulation.fault_rate(sim::FaultKind::server_stop) > 0;
  return may_stop ? 3 * scenario.server_timeout_ns : 0;
}

// After this time, nobody waits for the regions of a client whose flush has not come.
std::uint64_t longest_wait_for_flush_ns(const Scenario& scenario) {
  const bool may_be_late = scenario.simulation.fault_rate(sim::FaultKind::slow_landing) > 0;
  return may_be_late ? scenario.flush_timeout_ns : 0;
}

checkers::OperationBounds bounds_of(const Scenario& scenario) {
  // Each attack may occupy the memory once, lock an entry once, or cause 16 restarts of an
  // operation by damage.
  const std::uint64_t attacks = scenario.attacks.size();
  constexpr std::uint64_t attempts_at_damage = 16;
  return {
      // Each entry is read twice and its container in two parts. In addition, there are the
      // rebinding counter, the container that is written, and a swap.
      .verbs_of_attempt = 4 * scenario.geometry.table_entries + 16,
      // A SET restarts on its own when memory is denied, and when it requests a cleanup.
      .attempts = 3 + attacks * attempts_at_damage,
      .shortest_lock_wait_ns = 2'000,
      // The server gives up on a silent client after the time-out, regardless of other requests.
      // The network's own time-outs then resolve what was in flight.
      .longest_wait_ns =
          2 * scenario.heartbeat_timeout_ns + longest_network_wait_ns +
          longest_wait_for_server_ns(scenario) + longest_wait_for_flush_ns(scenario) +
          attacks * (2 * scenario.heartbeat_timeout_ns + 2 * scenario.cleanup_interval_ns),
  };
}

// A client whose server does not wait for heartbeats may walk for ever.
std::optional<std::uint64_t> longest_walk_ns(const Scenario& scenario) {
  if (!scenario.safeguards.heartbeats) return std::nullopt;
  return scenario.heartbeat_timeout_ns / 5 * 3;
}

std::uint64_t longest_trust_ns(const Scenario& scenario) {
  return scenario.safeguards.location_expiry ? scenario.location_cache.trust_ns : fabric::never_ns;
}

checkers::RefusalRules refusal_rules_of(const Scenario& scenario) {
  return {.longest_container_bytes = std::min<std::uint64_t>(scenario.geometry.region_bytes,
                                                             scenario.simulation.max_message_bytes),
          .value_prefix_bytes = scenario.geometry.value_prefix_bytes(),
          .server_timeout_ns = scenario.server_timeout_ns,
          .heartbeat_timeout_ns = scenario.heartbeat_timeout_ns,
          .longest_walk_ns = longest_walk_ns(scenario),
          .gives_regions_back = scenario.asks_for_regions_back,
          .keeps_reserve = scenario.keeps_overwrite_reserve,
          .evicts = scenario.evicts};
}

std::optional<checkers::Refusal> refusal_of(engine::Answer answer) {
  switch (answer) {
    case engine::Answer::value_too_large: return checkers::Refusal::value_too_large;
    case engine::Answer::table_full: return checkers::Refusal::table_full;
    case engine::Answer::out_of_memory: return checkers::Refusal::out_of_memory;
    case engine::Answer::timed_out: return checkers::Refusal::timed_out;
    default: return std::nullopt;
  }
}

}  // namespace

OperationWatch::OperationWatch(const Scenario& scenario, const checkers::TableWatch& table)
    : scenario_(scenario),
      geometry_(scenario.geometry),
      options_(scenario.simulation),
      table_(table),
      progress_(bounds_of(scenario)),
      may_meet_damage_(!scenario.attacks.empty() ||
                       scenario.safeguards != engine::Safeguards::hardened()),
      refusals_(refusal_rules_of(scenario)),
      locations_(longest_trust_ns(scenario)) {}

// The network

// The effects of a fault may last another `longest_stall_ns`.
void OperationWatch::on_time_jump(const sim::TraceEvent& jump) {
  const std::uint64_t jumped_ns = jump.time_ns - jump.step * options_.step_duration_ns;
  const std::uint64_t duration_ns = jumped_ns - jumped_ns_;
  jumped_ns_ = jumped_ns;
  if (jump.step <= options_.last_fault_step) return;
  if (!faults_over_ns_) {
    faults_over_ns_ = jump.time_ns - duration_ns + options_.longest_stall_ns;
  }
  if (jump.time_ns <= *faults_over_ns_) return;
  progress_.on_waited(std::min(duration_ns, jump.time_ns - *faults_over_ns_));
}

// The simulator records the queue pair's error just before the fault that caused it.
void OperationWatch::on_fault(const sim::TraceEvent& fault) {
  on_time_jump(fault);
  const auto kind = static_cast<sim::FaultKind>(fault.detail);
  if (kind == sim::FaultKind::queue_pair_error) disconnections_.on_fault(last_broken_);
  if (kind == sim::FaultKind::registration_failure) refusals_.on_registration_failed();
}

void OperationWatch::on_posted(fabric::FiberId fiber, const sim::TraceEvent& posted) {
  const auto found = calls_.find(fiber);
  if (found == calls_.end() || found->second.posted.is_in_batch) return;
  if (!geometry_.slot_at(posted.offset)) return;
  switch (posted.posted->opcode) {
    case fabric::Opcode::read: return on_read_posted(found->second, posted);
    case fabric::Opcode::compare_and_swap: return on_swap_posted(found->second, posted);
    default: return;
  }
}

// A second reading uses another buffer than the first.
void OperationWatch::on_read_posted(Call& call, const sim::TraceEvent& posted) {
  const FirstRead read{.local_offset = posted.posted->local.offset, .remote_offset = posted.offset};
  if (!call.posted.first_read) call.posted.first_read = read;
  if (read == call.posted.first_read) call.refusal.walk_ns = posted.time_ns;
}

void OperationWatch::on_swap_posted(Call& call, const sim::TraceEvent& posted) {
  if (!std::exchange(call.posted.has_swapped, true) && !call.posted.first_read) {
    locations_.on_used(*geometry_.slot_at(posted.offset), engine::Entry(posted.posted->compare),
                       call.operation, call.refusal.time_ns, posted.step);
  }
}

void OperationWatch::on_completed(const sim::TraceEvent& completed) {
  const auto status = static_cast<fabric::CompletionStatus>(completed.detail);
  if (status != fabric::CompletionStatus::retry_exceeded) return;
  disconnections_.on_no_answer(completed.subject);
}

void OperationWatch::on_queue_pair_error(const sim::TraceEvent& error) {
  last_broken_ = error.subject;
  disconnections_.on_error(error.subject);
}

void OperationWatch::on_connection(const sim::TraceEvent& event) {
  if (event.detail == sim::closing_notice_detail) disconnections_.on_close_heard(event.subject);
}

// The server

void OperationWatch::on_server_restart() {
  refusals_.on_restart();
  locations_.on_restart();
  requests_denied_ = 0;
  overwrites_denied_ = 0;
  for (auto& [fiber, call] : calls_) call.overwrites_slot.reset();
}

void OperationWatch::on_server_started(std::uint64_t time_ns) {
  progress_.on_change(table_.is_any_locked(), time_ns);
  refusals_.on_table(table_, geometry_, time_ns);
}

void OperationWatch::on_entry_changed(std::uint64_t slot, engine::Entry previous,
                                      std::uint64_t time_ns) {
  locations_.on_replaced(slot, previous, time_ns);
  locations_.on_present(slot, table_.entry(slot));
  progress_.on_change(table_.is_any_locked(), time_ns);
  refusals_.on_table(table_, geometry_, time_ns);
  for (auto& [fiber, call] : calls_) {
    if (call.overwrites_slot == slot &&
        table_.live_container_bytes(slot, geometry_) < call.needed_bytes) {
      call.overwrites_slot.reset();
    }
  }
}

// The checker needs the books of the moment of the denial. Its message may reach the client much
// later.
void OperationWatch::on_server(const engine::Server& server, std::uint64_t time_ns,
                               std::uint64_t step) {
  if (server.denials() == requests_denied_ + overwrites_denied_) return;
  const engine::ServerBooks books = server.books();
  std::vector<std::uint32_t> clients;
  for (const engine::ClientInspection& client : server.inspect().clients) {
    if (!client.leaving) clients.push_back(client.number);
  }
  const checkers::MemoryView view{.geometry = geometry_,
                                  .hash_key = server.hash_key(),
                                  .chunk = {},
                                  .regions = books.regions,
                                  .mature_spaces = books.mature_spaces};
  const checkers::DenialBooks denial{
      .memory = view, .clients = clients, .measured = books.measured};
  if (std::exchange(requests_denied_, books.requests_denied) != books.requests_denied) {
    refusals_.on_denied(checkers::Need::any_key, denial, time_ns, step);
  }
  if (std::exchange(overwrites_denied_, books.overwrites_denied) != books.overwrites_denied) {
    refusals_.on_denied(checkers::Need::overwrite, denial, time_ns, step);
  }
}

// Operations

void OperationWatch::on_called(fabric::FiberId fiber, const checkers::Operation& operation,
                               std::uint32_t queue_pair, const engine::Server* server,
                               std::uint64_t time_ns) {
  const engine::ServerBooks books = server == nullptr ? engine::ServerBooks{} : server->books();
  Call& call =
      calls_[fiber] = {.operation = operation,
                       .progress = progress_.on_call(time_ns),
                       .refusal = refusals_.on_call(books.regions, books.cleanups, time_ns),
                       .queue_pair = queue_pair,
                       .posted = {.is_in_batch = scenario_.clients[operation.client].batch > 1}};
  if (!stores_value(operation.kind)) return;
  call.needed_bytes = geometry_.round_up_to_unit(engine::container_bytes(
      operation.key.size(), geometry_.value_prefix_bytes() + operation.value.size()));
  const auto slot = table_.find(operation.key);
  if (slot && table_.live_container_bytes(*slot, geometry_) >= call.needed_bytes) {
    call.overwrites_slot = slot;
  }
}

void OperationWatch::on_returned(fabric::FiberId fiber, const checkers::Operation& operation,
                                 const OperationResult& result, const engine::Server* server,
                                 std::uint64_t time_ns, std::uint64_t step) {
  const auto found = calls_.find(fiber);
  const Call& call = found->second;
  progress_.on_return(call.progress, operation, result.statistics.verbs, time_ns, step);
  const std::uint64_t cleanups = server == nullptr ? 0 : server->books().cleanups;
  judge_answer(call, operation, result.answer, cleanups, time_ns, step);
  calls_.erase(found);
}

void OperationWatch::judge_answer(const Call& call, const checkers::Operation& operation,
                                  engine::Answer answer, std::uint64_t cleanups,
                                  std::uint64_t time_ns, std::uint64_t step) {
  // A SET or DELETE that removed a damaged container and then failed for any reason answers
  // unknown_outcome. Containers are damaged only by a hostile client or without a safeguard.
  if (may_meet_damage_ && answer == engine::Answer::unknown_outcome) return;
  if (answer == engine::Answer::disconnected || answer == engine::Answer::unknown_outcome) {
    disconnections_.on_disconnected(call.queue_pair, operation, step);
  } else if (const auto refusal = refusal_of(answer)) {
    // A client looks for the key before it asks for memory of the reserve. It cannot look without a
    // connection.
    const bool overwrites = call.overwrites_slot && !disconnections_.is_broken(call.queue_pair);
    refusals_.on_refused(call.refusal, operation, *refusal,
                         overwrites ? checkers::Need::overwrite : checkers::Need::any_key, cleanups,
                         time_ns, step);
  }
}

void OperationWatch::add_violations(std::vector<Judgement>& violations) const {
  const auto add = [&](const Judgement& judgement) {
    if (judgement.verdict == Verdict::violated) violations.push_back(judgement);
  };
  add(progress_.judgement());
  if (!may_meet_damage_) add(refusals_.judgement());
  add(disconnections_.judgement());
  add(locations_.judgement());
}

}  // namespace falafel::store_scenario
