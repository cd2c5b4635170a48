#include "checkers/readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace falafel::checkers {

using engine::Entry;

namespace {

// Clients wait for twice this time, by clocks of their own.
constexpr std::uint64_t shortest_wait_ns = 1'000;

}  // namespace

bool Readings::Read::is_complete() const {
  return std::ranges::all_of(words, [](const auto& word) { return word.has_value(); });
}

bool Readings::Read::is_same_as(const Read& other) const {
  return request.slot == other.request.slot && request.count == other.request.count &&
         request.buffer == other.request.buffer;
}

void Readings::on_search(std::uint64_t call, std::uint64_t hash) {
  on_abandoned(call);
  calls_[call] = {.search = {.hash = hash}};
}

void Readings::on_scan(std::uint64_t call) {
  on_abandoned(call);
  calls_[call] = {.is_scan = true};
}

void Readings::on_read(std::uint64_t call, const Request& request) {
  const auto found = calls_.find(call);
  if (found == calls_.end()) return;
  if (request.what != What::other) {
    const std::uint64_t words = request.what == What::counter ? 1 : request.count;
    reads_[request.number] = {.call = call,
                              .request = request,
                              .words = std::vector<std::optional<std::uint64_t>>(words)};
    found->second.reads.push_back(request.number);
  }
  if (found->second.is_scan) {
    read_in_scan(found->second.scan, request);
  } else {
    read_in_search(found->second.search, request);
  }
}

void Readings::on_word(std::uint64_t number, std::uint64_t index, std::uint64_t word,
                       std::uint32_t last_table, std::uint64_t time_ns) {
  const auto found = reads_.find(number);
  if (found == reads_.end() || index >= found->second.words.size()) return;
  Read& read = found->second;
  read.words[index] = word;
  read.last_ns = time_ns;
  Call& call = calls_.at(read.call);
  const bool is_walked = !call.is_scan && read.request.what == What::entries;
  if (is_walked && geometry_.can_grow()) {
    walk_word(call.search, read, index, Entry(word), last_table);
  }
}

void Readings::on_swap(std::uint64_t call) {
  const auto found = calls_.find(call);
  if (found != calls_.end()) found->second.search.counter.reset();
}

void Readings::on_returned(std::uint64_t call, bool is_conclusive, std::uint64_t step) {
  const auto found = calls_.find(call);
  if (found == calls_.end()) return;
  if (is_conclusive && found->second.is_scan) {
    judge_chunk(found->second.scan, step);
  } else if (is_conclusive) {
    judge_walk(found->second.search, step);
  }
  for (const Number number : found->second.reads) reads_.erase(number);
  calls_.erase(found);
}

// Searches

void Readings::read_in_search(Search& search, const Request& request) {
  if (request.what == What::counter) {
    judge_patience(search, request);
    search.counter = request.number;
    search.since_counter.clear();
  }
  if (request.what != What::entries) return;
  search.since_counter.push_back(request.number);
  if (!geometry_.can_grow()) return;
  if (!search.buffer) search.buffer = request.buffer;
  if (request.buffer != search.buffer) return;
  const std::uint32_t table = geometry_.table_of(request.slot);
  const std::uint64_t home =
      geometry_.first_slot(table) + search.hash % geometry_.entries_of(table);
  const bool goes_on = table > search.table && has_met_frozen_slot(search);
  if (request.slot == home && !goes_on) search.walk.clear();
  search.table = table;
  search.first_reading = request.number;
}

// A walk goes on in the next table where the chain ends at a frozen slot. Another one may begin
// there when the earlier table is no longer in use.
bool Readings::has_met_frozen_slot(const Search& search) const {
  if (!search.first_reading) return false;
  const Read& last = reads_.at(*search.first_reading);
  const auto end = std::ranges::find_if(last.words, [](const auto& word) {
    return !word || Entry(*word).is_empty() || Entry(*word).is_locked();
  });
  return end != last.words.end() && *end && Entry(**end).is_frozen();
}

// The same search may have ended between the two, and another one of the operation begun. That
// reads the home slot once more. If the table has grown, it may be another slot.
void Readings::judge_patience(const Search& search, const Request& counter) {
  if (geometry_.can_grow() || !search.counter || search.since_counter.empty()) return;
  const auto odd = reads_.at(*search.counter).words.front();
  if (!odd || *odd % 2 == 0) return;
  const Read& home = reads_.at(search.since_counter.front());
  std::uint64_t last_ns = 0;
  for (const Number number : search.since_counter) {
    const Read& read = reads_.at(number);
    const bool begins_again = &read != &home && read.is_same_as(home);
    if (begins_again || !read.is_complete()) return;
    last_ns = std::max(last_ns, read.last_ns);
  }
  if (counter.time_ns - last_ns >= shortest_wait_ns) return;
  fail("reading.impatient",
       fmt::format("a search reads the counter of rebindings {} ns after its last words. It had "
                   "begun with the odd number {}, so it has to wait before it begins again",
                   counter.time_ns - last_ns, *odd),
       {home.request.slot}, counter.step);
}

void Readings::walk_word(Search& search, const Read& read, std::uint64_t index, Entry word,
                         std::uint32_t last_table) const {
  const std::uint64_t slot = read.request.slot + index;
  FirstWord& first = search.walk[slot];
  if (first.readings++ > 0) return;
  first.word = word;
  first.was_in_last_table = geometry_.table_of(slot) >= last_table;
}

bool Readings::has_no_key(Entry word) const {
  return word.is_deleted() && !word.is_locked() &&
         geometry_.to_offset(word.reference()) == engine::Geometry::stand_in_offset();
}

void Readings::judge_walk(const Search& search, std::uint64_t step) {
  for (const auto& [slot, first] : search.walk) {
    const bool is_earlier = geometry_.table_of(slot) < search.table;
    if (!is_earlier || first.readings > 1 || !first.was_in_last_table) continue;
    if (!has_no_key(first.word)) continue;
    fail("reading.unsettled",
         fmt::format("a search that ended in table {} has read the entry without a key in slot {} "
                     "once, when table {} was the last one",
                     search.table, slot, geometry_.table_of(slot)),
         {slot}, step);
  }
}

// Scans

void Readings::read_in_scan(Scan& scan, const Request& request) {
  if (request.what == What::counter) {
    if (scan.second && !scan.counter_after) scan.counter_after = request.number;
    scan.counter = request.number;
    return;
  }
  const auto counter = std::exchange(scan.counter, std::nullopt);
  const auto follows = [&](std::optional<Number> number) {
    if (!number || request.what != What::entries) return false;
    const Request& earlier = reads_.at(*number).request;
    return earlier.slot == request.slot && earlier.count == request.count;
  };
  const std::optional<Number> last = scan.second ? scan.second : scan.first;
  const bool repeats = follows(last);
  if (scan.second && !repeats) judge_chunk(scan, request.step);
  if (request.what == What::other) {
    scan = {};
  } else if (repeats && request.buffer > reads_.at(*last).request.buffer) {
    const auto before = scan.second ? std::nullopt : scan.counter_before;
    scan = {.counter_before = before, .first = last, .second = request.number};
  } else {
    scan = {.counter_before = counter, .first = request.number};
  }
}

bool Readings::has_same_even_counter(const Scan& scan) const {
  if (!scan.counter_before || !scan.counter_after) return false;
  const auto before = reads_.at(*scan.counter_before).words.front();
  return before && *before % 2 == 0 && before == reads_.at(*scan.counter_after).words.front();
}

// If the scan reads the chunk again, nobody asks.
void Readings::judge_chunk(const Scan& scan, std::uint64_t step) {
  if (!scan.second) return;
  const Read& first = reads_.at(*scan.first);
  const Read& second = reads_.at(*scan.second);
  if (!first.is_complete() || !second.is_complete()) return;
  for (std::size_t index = 0; index < first.words.size(); ++index) {
    const Entry before(*first.words[index]);
    const Entry after(*second.words[index]);
    const bool is_next = after.tag() == before.tag() ||
                         after.tag() == before.with_next_tag(geometry_.tag_bits).tag();
    const bool is_locked = before.is_locked() || after.is_locked();
    if (!is_locked && (is_next || has_same_even_counter(scan))) continue;
    const std::uint64_t slot = first.request.slot + index;
    fail(
        "reading.unproven-chunk",
        fmt::format("a scan visits the keys of slots {} to {}, although it has read {:#x} and then "
                    "{:#x} in slot {}",
                    first.request.slot, first.request.slot + first.request.count - 1, before.word(),
                    after.word(), slot),
        {slot}, step);
  }
}

void Readings::fail(std::string_view property, std::string explanation,
                    std::vector<std::uint64_t> slots, std::uint64_t step) {
  if (judgement_.verdict != Verdict::holds) return;
  judgement_ = {.verdict = Verdict::violated,
                .property = std::string(property),
                .explanation = fmt::format("step {}: {}", step, std::move(explanation)),
                .slots = std::move(slots),
                .step = step};
}

}  // namespace falafel::checkers
