#include "tools/scenarios/store/reading_watch.h"

#include <cstring>
#include <optional>
#include <span>

#include "engine/layout/key_hash.h"
#include "engine/layout/status_line.h"
#include "engine/layout/tables.h"

namespace falafel::store_scenario {

using checkers::Readings;

namespace {

// Places in a send queue are below 2^40 in any run.
std::uint64_t number_of(const sim::TraceEvent& event) {
  return std::uint64_t{event.subject} << 40 | event.place;
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

}  // namespace

ReadingWatch::ReadingWatch(const Scenario& scenario)
    : scenario_(scenario),
      are_scans_judged_(scenario.safeguards == engine::Safeguards::hardened()),
      are_searches_judged_(are_scans_judged_ && scenario.location_cache.entries == 0 &&
                           (scenario.attacks.empty() || scenario.geometry.can_grow())),
      readings_(scenario.geometry) {}

// In a batch, a fiber also posts the requests of others.
bool ReadingWatch::is_judged(std::uint32_t client) const {
  const ClientPlan& plan = scenario_.clients[client];
  return plan.batch == 1 && !plan.sets_many;
}

void ReadingWatch::on_posted(fabric::FiberId fiber, const sim::TraceEvent& event) {
  if (!are_scans_judged_) return;
  if (event.posted->opcode == fabric::Opcode::compare_and_swap) return readings_.on_swap(fiber);
  if (event.posted->opcode != fabric::Opcode::read) return;
  const auto slot = scenario_.geometry.slot_at(event.offset);
  const bool is_counter = event.offset == engine::rebindings_offset;
  const auto what = slot         ? Readings::What::entries
                    : is_counter ? Readings::What::counter
                                 : Readings::What::other;
  readings_.on_read(fiber, {.number = number_of(event),
                            .what = what,
                            .slot = slot.value_or(0),
                            .count = event.posted->length_bytes / engine::entry_bytes,
                            .buffer = event.posted->local.offset,
                            .time_ns = event.time_ns,
                            .step = event.step});
}

void ReadingWatch::on_words_read(const sim::TraceEvent& event, const checkers::MemoryView& memory) {
  if (!are_scans_judged_) return;
  const bool is_of_table = scenario_.geometry.slot_at(event.offset).has_value();
  if (!is_of_table && event.offset != engine::rebindings_offset) return;
  const std::uint64_t begin = (event.offset - event.posted->remote.offset) / fabric::word_bytes;
  const auto tables = engine::Tables::from_word(word_at(memory.chunk, engine::tables_offset));
  for (std::uint64_t done = 0; done + fabric::word_bytes <= event.data.size();
       done += fabric::word_bytes) {
    readings_.on_word(number_of(event), begin + done / fabric::word_bytes,
                      word_at(event.data, done), tables.last, event.time_ns);
  }
}

void ReadingWatch::on_operation_called(fabric::FiberId fiber,
                                       const checkers::Operation& operation) {
  if (!are_searches_judged_ || !is_judged(operation.client)) return;
  readings_.on_search(fiber,
                      engine::hash_of(std::as_bytes(std::span(operation.key)), scenario_.hash_key));
}

void ReadingWatch::on_operation_returned(fabric::FiberId fiber, engine::Answer answer,
                                         std::uint64_t step) {
  readings_.on_returned(fiber, answer == engine::Answer::not_found, step);
}

void ReadingWatch::on_scan_called(fabric::FiberId fiber, std::uint32_t client) {
  if (are_scans_judged_ && is_judged(client)) readings_.on_scan(fiber);
}

void ReadingWatch::on_scan_returned(fabric::FiberId fiber, engine::Answer answer,
                                    std::uint64_t step) {
  readings_.on_returned(fiber, answer == engine::Answer::found, step);
}

}  // namespace falafel::store_scenario
