#include "tools/scenarios/store/run_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "checkers/memory_view.h"
#include "engine/layout/key_hash.h"
#include "tools/scenarios/store/judged_objects.h"

namespace falafel::store_scenario {

using checkers::Judgement;
using checkers::Verdict;

namespace {

// More verbs than the operations of a small scenario need before one of them completes: several
// times the maximum seen in 80,000 schedules.
constexpr std::uint64_t most_verbs_without_completion = 1'000;

// Inspecting the server's clients costs more than an operation, so it is done once per this many
// operations.
constexpr std::uint64_t look_at_books_one_in = 8;

checkers::Operation operation_of(const checkers::KeyScan& scan) {
  return {.client = scan.client,
          .kind = checkers::OperationKind::get,
          .key = "all keys",
          .call_time = scan.call_time};
}

}  // namespace

RunObserver::RunObserver(const Scenario& scenario, StoreWorld& world, const RunOptions& options)
    : geometry_(scenario.geometry),
      keeps_memory_(scenario.keeps_memory),
      world_(world),
      options_(options),
      aba_(Parties::name, [](std::uint64_t slot) { return fmt::format("slot {}", slot); }),
      judges_tags_(scenario.safeguards.tag_discipline),
      tags_(scenario.geometry),
      judges_repairs_(!scenario.attacks.empty() &&
                      scenario.safeguards == engine::Safeguards::hardened()),
      repairs_(scenario.geometry),
      progress_(most_verbs_without_completion),
      memory_(scenario, options.paranoid),
      operations_(scenario, memory_.table()),
      silence_(scenario, world),
      grants_(scenario, world),
      quiescence_(scenario, world),
      readings_(scenario),
      fresh_keys_(scenario) {}

// Events

sim::EventKinds RunObserver::observed_kinds() const {
  if (options_.listener != nullptr) return sim::all_event_kinds;
  return sim::event_kinds(
      {sim::EventKind::words_read, sim::EventKind::words_written, sim::EventKind::atomic_read,
       sim::EventKind::atomic_written, sim::EventKind::processor_read,
       sim::EventKind::processor_access, sim::EventKind::fiber_runs, sim::EventKind::request_posted,
       sim::EventKind::message_delivered, sim::EventKind::request_completed,
       sim::EventKind::queue_pair_error, sim::EventKind::connection, sim::EventKind::time_jump,
       sim::EventKind::fault, sim::EventKind::host_started, sim::EventKind::host_died});
}

void RunObserver::introduce(const sim::Subject& subject) {
  parties_.introduce(subject);
  if (subject.kind == sim::SubjectKind::queue_pair) newest_queue_pair_ = subject.number;
  silence_.introduce(subject);
  grants_.introduce(subject);
  quiescence_.introduce(subject);
  if (options_.listener != nullptr) options_.listener->introduce(subject);
}

void RunObserver::observe_pause(const sim::Pause& pause) {
  silence_.observe_pause(pause);
  if (options_.listener != nullptr) options_.listener->observe_pause(pause);
}

// Requests that read or swap address the server's chunk regardless of who posts them, so offsets
// identify their targets.
void RunObserver::observe(const sim::TraceEvent& event) {
  if (options_.listener != nullptr && event.step != step_) show_memory(step_ = event.step);
  silence_.observe(event);
  grants_.observe(event);
  quiescence_.observe(event);
  if (hidden_damage_.is_watching()) {
    with_memory([&](const checkers::MemoryView& view) { hidden_damage_.on_memory(view); });
  }
  switch (event.kind) {
    case sim::EventKind::words_read: on_words_read(event); break;
    case sim::EventKind::words_written: on_words_written(event); break;
    case sim::EventKind::atomic_read: on_atomic_read(event); break;
    case sim::EventKind::atomic_written: on_atomic_written(event); break;
    case sim::EventKind::processor_read: on_processor_read(event); break;
    case sim::EventKind::processor_access: on_processor_access(event); break;
    case sim::EventKind::request_posted: on_request_posted(event); break;
    case sim::EventKind::fiber_runs: note_denials(event.time_ns); break;
    case sim::EventKind::request_completed: operations_.on_completed(event); break;
    case sim::EventKind::queue_pair_error: on_queue_pair_error(event); break;
    case sim::EventKind::time_jump: operations_.on_time_jump(event); break;
    case sim::EventKind::fault: operations_.on_fault(event); break;
    case sim::EventKind::connection:
      lives_.observe(event);
      operations_.on_connection(event);
      break;
    case sim::EventKind::host_started: lives_.observe(event); break;
    case sim::EventKind::host_died:
      lives_.observe(event);
      world_.on_host_died(event.subject);
      if (event.subject == StoreWorld::server_host) {
        memory_.on_restart();
        repairs_.clear();
        hidden_damage_.on_server_died();
        fresh_keys_.on_server_died();
        ends_.on_server_died(newest_queue_pair_);
        operations_.on_server_restart();
      }
      break;
    default: break;
  }
  if (options_.listener != nullptr) options_.listener->observe(event);
}

// Operations consist of READs, WRITEs and atomics. Most SENDs are heartbeats, which continue while
// an operation waits for a stalled party.
void RunObserver::on_request_posted(const sim::TraceEvent& event) {
  const fabric::FiberId fiber = *world_.running_fiber();
  parties_.on_posted(event.subject, fiber);
  if (parties_.is_hostile(event.subject)) return;
  note_denials(event.time_ns);
  operations_.on_posted(fiber, event);
  readings_.on_posted(fiber, event);
  if (Parties::is_client(parties_.of_queue_pair(event.subject))) {
    ends_.on_posted(event.subject, event.place);
  }
  if (options_.paranoid) memory_.on_read_posted(fiber, event);
  if (event.detail == static_cast<std::uint8_t>(fabric::Opcode::send)) return;
  if (world_.completed_operations() != completed_operations_) {
    completed_operations_ = world_.completed_operations();
    progress_.on_completed();
  }
  // While the server is stopped, operations retry at its locks until they time out. The bound of
  // each single operation covers these retries.
  if (memory_.table().is_any_locked() && world_.is_server_stopped()) return;
  // The server maintains the table for as long as it runs, whoever has a turn meanwhile.
  if (!Parties::is_client(parties_.of_queue_pair(event.subject))) return;
  // An endless operation would use all the time it is given.
  if (world_.unfinished_operations() > 0 && progress_.on_verb(event.step)) world_.stop();
}

void RunObserver::on_queue_pair_error(const sim::TraceEvent& event) {
  operations_.on_queue_pair_error(event);
  ends_.on_connection_lost(event.subject);
  if (const auto peer = world_.peer_of(event.subject)) ends_.on_connection_lost(*peer);
}

// Entries: reads and swaps

std::optional<std::uint64_t> RunObserver::slot_at(std::uint64_t offset) const {
  return geometry_.slot_at(offset);
}

// Returns whether the processor accesses the chunk of the current server and no other memory.
bool RunObserver::is_of_server(const sim::TraceEvent& event) const {
  return world_.server() != nullptr && event.block == &world_.server()->memory();
}

void RunObserver::read_entry(std::uint32_t party, std::uint64_t offset, std::uint64_t word) {
  const auto slot = slot_at(offset);
  if (!slot) return;
  aba_.on_read(party, *slot, word);
  if (judges_repairs_ && !Parties::is_client(party)) {
    repairs_.on_read(party, *slot, engine::Entry(word));
  }
}

void RunObserver::read_entries(std::uint32_t party, std::uint64_t offset,
                               std::span<const std::byte> data) {
  for (std::size_t position = 0; position + engine::entry_bytes <= data.size();
       position += engine::entry_bytes) {
    if (!slot_at(offset + position)) return;
    std::uint64_t word = 0;
    std::memcpy(&word, data.data() + position, sizeof word);
    read_entry(party, offset + position, word);
  }
}

void RunObserver::on_words_read(const sim::TraceEvent& event) {
  if (!lives_.is_in_use(event.subject) || parties_.is_hostile(event.subject)) return;
  read_entries(parties_.of_queue_pair(event.subject), event.offset, event.data);
  with_memory([&](const checkers::MemoryView& view) {
    readings_.on_words_read(event, view);
    if (options_.paranoid) memory_.on_words_read(event, view);
  });
}

// Only clients use WRITE; the server accesses its own memory directly.
void RunObserver::on_words_written(const sim::TraceEvent& event) {
  if (!lives_.is_in_use(event.subject)) return;
  ends_.on_landed(event.subject, event.place, event.step);
  with_memory([&](const checkers::MemoryView& view) {
    memory_.on_written(event.subject, event.offset, view, event.step);
  });
}

// A compare-and-swap that fails reveals the word. One that succeeds reveals nothing new.
void RunObserver::on_atomic_read(const sim::TraceEvent& event) {
  if (!lives_.is_in_use(event.subject) || event.word == event.posted->compare) return;
  read_entry(parties_.of_queue_pair(event.subject), event.offset, event.word);
  if (!options_.paranoid || parties_.is_hostile(event.subject)) return;
  with_memory([&](const checkers::MemoryView& view) { memory_.on_swap_failed(event, view); });
}

void RunObserver::on_atomic_written(const sim::TraceEvent& event) {
  if (!lives_.is_in_use(event.subject)) {
    if (keeps_memory_) note_late_swap(event);
    return;
  }
  if (event.word != event.previous_word) {
    ends_.on_landed(event.subject, event.place, event.step);
  }
  swap_entry(parties_.of_queue_pair(event.subject), event, event.previous_word);
}

// A swap lands after the server has died. The next server finds it in the memory that stayed.
void RunObserver::note_late_swap(const sim::TraceEvent& event) {
  const auto slot = slot_at(event.offset);
  if (!slot || event.word == event.previous_word) return;
  const bool is_hostile = parties_.is_hostile(event.subject);
  world_.attacked().on_changed(*slot, engine::Entry(event.previous_word), engine::Entry(event.word),
                               is_hostile);
  if (is_hostile) memory_.on_attack();
}

void RunObserver::on_processor_read(const sim::TraceEvent& event) {
  if (!is_of_server(event)) return;
  const std::uint32_t party = Parties::of_fiber(event.fiber);
  if (event.data.empty()) {
    read_entry(party, event.offset, event.word);
  } else {
    read_entries(party, event.offset, event.data);
  }
}

void RunObserver::on_processor_access(const sim::TraceEvent& event) {
  if (!is_of_server(event)) return;
  swap_entry(Parties::of_fiber(event.fiber), event, event.replaced_word.value_or(0));
}

// Some devices write the old word back when a compare-and-swap fails.
void RunObserver::swap_entry(std::uint32_t party, const sim::TraceEvent& event,
                             std::uint64_t replaced_word) {
  const auto slot = slot_at(event.offset);
  if (!slot) return;
  const engine::Entry previous(replaced_word);
  if (event.word == replaced_word) return aba_.on_read(party, *slot, replaced_word);
  const engine::Entry next(event.word);
  AttackedSlots& attacked = world_.attacked();
  const bool is_hostile = parties_.is_hostile(party);
  attacked.on_changed(*slot, previous, next, is_hostile);
  if (is_hostile) memory_.on_attack();
  if (judges_repairs_) {
    judge_repair(party, *slot, previous, next, event.step);
    using Party = checkers::Repairs::Party;
    const Party changer = is_hostile                  ? Party::hostile
                          : Parties::is_client(party) ? Party::client
                                                      : Party::server;
    repairs_.on_changed(*slot, previous, next, changer, event.step);
  }
  if (!attacked.is_attacked(*slot)) {
    aba_.on_swapped(party, *slot, replaced_word, event.word, event.step);
    if (judges_tags_) tags_.on_changed(*slot, previous, next, event.step);
  }
  note_denials(event.time_ns);
  world_.touch(table_object, sim::Access::writes);
  with_memory([&](const checkers::MemoryView& view) {
    const bool is_judged = Parties::is_client(party) && !is_hostile;
    const auto client = is_judged ? std::optional(party) : std::nullopt;
    memory_.on_entry_changed(*slot, next, client, view, event.step);
    operations_.on_entry_changed(*slot, previous, event.time_ns);
    fresh_keys_.on_changed(memory_.table(), *slot, is_hostile, world_.last_time());
  });
}

// A hostile client that swaps in other offsets may change the container, and with it the key, after
// the server has read it.
void RunObserver::judge_repair(std::uint32_t party, std::uint64_t slot, engine::Entry previous,
                               engine::Entry next, std::uint64_t step) {
  if (Parties::is_client(party) || world_.attacked().is_any_offset()) return;
  if (!repairs_.is_repair(slot, previous, next)) return;
  with_memory([&](const checkers::MemoryView& view) {
    const auto stored = checkers::read_stored(view, next);
    if (!stored || stored->key.empty()) return;
    const auto key = std::as_bytes(std::span(stored->key));
    repairs_.on_repaired(party, slot, engine::hash_of(key, view.hash_key), step);
  });
}

// Operations

void RunObserver::on_operation_called(fabric::FiberId fiber, const checkers::Operation& operation,
                                      std::uint64_t time_ns) {
  const std::uint32_t connection = parties_.newest_of_client(operation.client);
  memory_.on_operation_called(fiber);
  ends_.on_called(fiber, connection, operation);
  grants_.on_operation_called(fiber, connection, operation, time_ns);
  quiescence_.on_operation_called(fiber, connection, operation);
  readings_.on_operation_called(fiber, operation);
  operations_.on_called(fiber, operation, connection, world_.server(), time_ns);
}

void RunObserver::on_operation_returned(fabric::FiberId fiber, const checkers::Operation& operation,
                                        const OperationResult& result, std::uint64_t time_ns) {
  memory_.on_operation_over(fiber);
  ends_.on_ended(fiber);
  grants_.on_operation_returned(fiber, result.answer);
  quiescence_.on_operation_returned(fiber, result, world_.steps());
  readings_.on_operation_returned(fiber, result.answer, world_.steps());
  note_denials(time_ns);
  operations_.on_returned(fiber, operation, result, world_.server(), time_ns, world_.steps());
  const bool looks = options_.paranoid || world_.completed_operations() % look_at_books_one_in == 0;
  if (looks && world_.server() != nullptr) memory_.on_server(*world_.server(), world_.steps());
}

// The checkers of single operations know a scan as a get. For the end of operations, it is many:
// one for each chunk. So it is for quiescence.
void RunObserver::on_scan_called(fabric::FiberId fiber, const checkers::KeyScan& scan,
                                 std::uint64_t time_ns) {
  on_operation_called(fiber, operation_of(scan), time_ns);
  ends_.on_ended(fiber);
  quiescence_.on_operation_abandoned(fiber);
  readings_.on_scan_called(fiber, scan.client);
  with_memory(
      [&](const checkers::MemoryView& view) { hidden_damage_.on_scan_called(fiber, view); });
}

void RunObserver::on_scan_returned(fabric::FiberId fiber, const checkers::KeyScan& scan,
                                   engine::Answer answer, std::uint64_t time_ns) {
  readings_.on_scan_returned(fiber, answer, world_.steps());
  on_operation_returned(fiber, operation_of(scan),
                        {.answer = answer, .statistics = {}, .found = {}}, time_ns);
  with_memory([&](const checkers::MemoryView& view) {
    hidden_damage_.on_scan_returned(fiber, scan, answer == engine::Answer::found, view,
                                    world_.steps());
  });
}

void RunObserver::on_operation_abandoned(fabric::FiberId fiber) {
  memory_.on_operation_over(fiber);
  hidden_damage_.on_scan_abandoned(fiber);
  ends_.on_ended(fiber);
  grants_.on_operation_abandoned(fiber);
  quiescence_.on_operation_abandoned(fiber);
  readings_.on_operation_abandoned(fiber);
  operations_.on_abandoned(fiber);
}

void RunObserver::on_end_answered(fabric::FiberId fiber, bool have_ended) {
  have_ended ? ends_.on_told(fiber, world_.steps()) : ends_.on_not_told(fiber);
}

// The changes that the server has made to start were not observed.
void RunObserver::on_server_started(std::uint64_t time_ns) {
  with_memory([&](const checkers::MemoryView& view) {
    memory_.on_started(view, world_.steps());
    operations_.on_server_started(time_ns);
  });
}

void RunObserver::on_goodbye(std::uint32_t client) {
  operations_.on_goodbye(parties_.newest_of_client(client));
}

// The server's memory

// Called before another fiber runs, because that fiber may change the books.
void RunObserver::note_denials(std::uint64_t time_ns) {
  if (world_.server() != nullptr) {
    operations_.on_server(*world_.server(), time_ns, world_.steps());
  }
}

template <typename Look>
void RunObserver::with_memory(Look look) {
  if (world_.server() == nullptr) return;
  const engine::ServerBooks books = world_.server()->books();
  look(checkers::MemoryView{.geometry = geometry_,
                            .hash_key = world_.server()->hash_key(),
                            .chunk = world_.server()->memory().bytes(),
                            .regions = books.regions,
                            .mature_spaces = books.mature_spaces});
}

void RunObserver::show_memory(std::uint64_t step) {
  if (world_.server() == nullptr) options_.listener->on_memory(step, nullptr);
  with_memory([&](const checkers::MemoryView& view) { options_.listener->on_memory(step, &view); });
}

// The end

// The faults ended long ago, so an operation that has not completed never will.
void RunObserver::on_end(const sim::RunResult& result) {
  if (result.outcome == sim::Outcome::completed) return;
  progress_.on_end(std::max<std::uint64_t>(world_.unfinished_operations(), 1));
  how_it_ended_ = "; " + result.explanation;
}

void RunObserver::add_violations(std::vector<Judgement>& violations) const {
  Judgement progress = progress_.judgement();
  progress.explanation += how_it_ended_;
  std::array judgements{std::move(progress),       aba_.judgement(),      tags_.judgement(),
                        repairs_.judgement(),      silence_.judgement(),  grants_.judgement(),
                        quiescence_.judgement(),   readings_.judgement(), ends_.judgement(),
                        hidden_damage_.judgement()};
  for (Judgement& judgement : judgements) {
    if (judgement.verdict == Verdict::violated) violations.push_back(std::move(judgement));
  }
  operations_.add_violations(violations);
  memory_.add_violations(violations);
}

}  // namespace falafel::store_scenario
