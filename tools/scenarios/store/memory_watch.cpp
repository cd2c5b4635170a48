#include "tools/scenarios/store/memory_watch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "checkers/books.h"
#include "checkers/collector.h"

namespace falafel::store_scenario {

using checkers::Judgement;
using checkers::MemoryView;
using checkers::Verdict;
using engine::Entry;

namespace {

checkers::ReclaimedMemory::Request request_of(const sim::TraceEvent& event) {
  return {event.subject, event.place};
}

// In a batch, one fiber posts the READs of several operations, and the checker of reclaimed memory
// knows operations by the fiber that posts.
bool has_batches(const Scenario& scenario) {
  return std::ranges::any_of(scenario.clients,
                             [](const ClientPlan& client) { return client.batch > 1; });
}

}  // namespace

MemoryWatch::MemoryWatch(const Scenario& scenario, bool paranoid)
    : geometry_(scenario.geometry),
      judges_ownership_(scenario.safeguards.fence_before_reclaim &&
                        scenario.safeguards.release_after_completion),
      judges_reclamation_(paranoid && scenario.safeguards.epoch_reclamation &&
                          !has_batches(scenario)),
      table_(geometry_.slot_count()),
      ownership_(geometry_),
      reclaimed_(geometry_),
      first_{.verdict = Verdict::holds, .property = {}, .explanation = {}} {}

void MemoryWatch::on_restart() {
  table_.clear();
  ownership_.clear();
  if (judges_reclamation_) reclaimed_.on_restart();
}

void MemoryWatch::on_started(const MemoryView& view, std::uint64_t step) {
  table_.adopt(view, step);
  for (std::uint64_t slot = 0; slot < view.end_of_slots(); ++slot) {
    const Entry entry = table_.entry(slot);
    if (!table_before_attack_) keep(checkers::check_entries(view, slot, entry), step);
  }
  keep(checkers::check_mature_spaces(view), step);
}

void MemoryWatch::on_entry_changed(std::uint64_t slot, Entry next,
                                   std::optional<std::uint32_t> client, const MemoryView& view,
                                   std::uint64_t step) {
  const bool is_new_container =
      !next.is_empty() && next.reference() != table_.entry(slot).reference();
  table_.on_changed(slot, next, view, step);
  if (client && is_new_container && judges_ownership_) {
    ownership_.on_published(*client, geometry_.to_offset(next.reference()), view.regions, step);
  }
  if (!table_before_attack_) keep(checkers::check_entries(view, slot, next), step);
  keep(checkers::check_mature_spaces(view), step);
}

void MemoryWatch::on_attack() {
  if (!table_before_attack_) table_before_attack_ = table_.judgement();
}

void MemoryWatch::on_written(std::uint32_t client, std::uint64_t offset, const MemoryView& view,
                             std::uint64_t step) {
  if (judges_ownership_) ownership_.on_written(client, offset, view.regions, step);
}

void MemoryWatch::on_server(const engine::Server& server, std::uint64_t step) {
  const engine::ServerInspection inspection = server.inspect();
  std::vector<std::uint32_t> clients;
  clients.reserve(inspection.clients.size());
  for (const engine::ClientInspection& client : inspection.clients) {
    clients.push_back(client.number);
  }
  keep(checkers::check_owners(inspection.regions, clients), step);
}

void MemoryWatch::on_read_posted(fabric::FiberId fiber, const sim::TraceEvent& posted) {
  if (!judges_reclamation_) return;
  reclaimed_.on_read_posted(fiber, request_of(posted), posted.posted->remote.offset,
                            posted.posted->length_bytes);
}

void MemoryWatch::on_words_read(const sim::TraceEvent& event, const MemoryView& view) {
  if (!judges_reclamation_) return;
  reclaimed_.on_books(view.regions, view.mature_spaces);
  if (event.offset < engine::Geometry::table_offset()) return;
  if (!geometry_.slot_at(event.offset)) {
    return reclaimed_.on_words_taken(request_of(event), event.offset, event.step);
  }
  for (std::size_t position = 0; position + engine::entry_bytes <= event.data.size();
       position += engine::entry_bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, event.data.data() + position, sizeof word);
    note_entry_read(event, Entry(word));
  }
}

void MemoryWatch::on_swap_failed(const sim::TraceEvent& event, const MemoryView& view) {
  if (!judges_reclamation_) return;
  reclaimed_.on_books(view.regions, view.mature_spaces);
  note_entry_read(event, Entry(event.word));
}

void MemoryWatch::note_entry_read(const sim::TraceEvent& event, Entry entry) {
  if (entry.is_empty()) return;
  reclaimed_.on_entry_read(request_of(event), geometry_.to_offset(entry.reference()));
}

void MemoryWatch::on_operation_called(fabric::FiberId fiber) {
  if (judges_reclamation_) reclaimed_.on_operation_called(fiber);
}

void MemoryWatch::on_operation_over(fabric::FiberId fiber) {
  if (judges_reclamation_) reclaimed_.on_operation_over(fiber);
}

void MemoryWatch::keep(Judgement judgement, std::uint64_t step) {
  if (judgement.verdict != Verdict::violated || first_.verdict != Verdict::holds) return;
  first_ = std::move(judgement);
  first_.step = step;
}

void MemoryWatch::add_violations(std::vector<Judgement>& violations) const {
  const Judgement* const table =
      table_before_attack_ ? &*table_before_attack_ : &table_.judgement();
  for (const Judgement* judgement :
       {table, &ownership_.judgement(), &reclaimed_.judgement(), &first_}) {
    if (table_before_attack_ && judgement == &reclaimed_.judgement()) continue;
    if (judgement->verdict == Verdict::violated) violations.push_back(*judgement);
  }
}

}  // namespace falafel::store_scenario
