// Litmus tests in which READs on another queue pair observe.
#include <fmt/format.h>

#include <algorithm>

#include "tools/command_line/acceptance/litmus.h"
#include "tools/command_line/acceptance/stamps.h"

namespace falafel::acceptance {
namespace {

using fabric::word_bytes;
using fabric::WorkRequest;

struct Seen {
  std::uint64_t reads = 0;
  std::uint64_t changes = 0;
  std::uint64_t inverted = 0;  // later word newer than the earlier one
  std::uint64_t mixed = 0;     // words of different WRITEs in one READ
  std::uint64_t torn = 0;
  std::uint64_t last = 0;
};

std::uint32_t count_at(Peer& peer, std::uint64_t offset, Seen& seen, bool counts_plainly = false) {
  const std::uint64_t word = peer.memory().load(offset);
  if (counts_plainly) return static_cast<std::uint32_t>(word);
  const auto count = count_of(word);
  if (!count) ++seen.torn;
  return count.value_or(0);
}

void note(Seen& seen, std::uint32_t earlier, std::uint32_t later) {
  ++seen.reads;
  if (later != seen.last) ++seen.changes;
  seen.last = later;
  if (earlier < later) ++seen.inverted;
}

// Streams chains on one queue pair while `look` observes on another.
Seen run(Peer& peer, const Budget& budget,
         const std::function<std::vector<WorkRequest>(Link&, std::uint64_t slot)>& chain_of,
         std::uint64_t words, const std::function<void(Link& reader, Seen& seen)>& look,
         std::uint32_t& repetitions) {
  const auto writer = peer.connect();
  const auto reader = peer.connect();
  Seen seen;
  run_together(
      peer.host(),
      [&] {
        repetitions = stream(peer, *writer, budget, [&](auto count, auto slot) {
          store_stamp(peer, slot, count, words);
          return chain_of(*writer, slot);
        });
      },
      [&](const bool& is_over) {
        while (!is_over) look(*reader, seen);
      });
  return seen;
}

Observed observed_of(const Seen& seen, std::uint32_t repetitions, std::vector<Outcome> more) {
  Observed observed{.repetitions = repetitions,
                    .outcomes = {{"READs", seen.reads}, {"changes that they saw", seen.changes}}};
  observed.outcomes.insert(observed.outcomes.end(), more.begin(), more.end());
  observed.outcomes.push_back({"torn words", seen.torn, true});
  return observed;
}

std::vector<WorkRequest> write_both(Link& link, std::uint64_t slot) {
  return {link.write(slot, x, word_bytes), link.write(slot, y, word_bytes)};
}

Observed wide_read(Peer& peer, const Budget& budget) {
  std::uint32_t repetitions = 0;
  const Seen seen = run(
      peer, budget,
      [](Link& link, std::uint64_t slot) {
        return std::vector{link.write(slot, x, wide_words * word_bytes)};
      },
      wide_words,
      [&](Link& reader, Seen& noted) {
        reader.succeed({reader.read(returned, x, wide_words * word_bytes)});
        const std::uint32_t first = count_at(peer, returned, noted);
        bool is_mixed = false;
        std::uint32_t last = first;
        for (std::uint64_t word = 1; word < wide_words; ++word) {
          last = count_at(peer, returned + word * word_bytes, noted);
          is_mixed = is_mixed || last != first;
        }
        if (is_mixed) ++noted.mixed;
        note(noted, first, last);
      },
      repetitions);
  return observed_of(seen, repetitions,
                     {{"READs with words of different WRITEs", seen.mixed},
                      {"the last word newer than the first", seen.inverted}});
}

// READ y, and READ x after it has completed: x is not older.
Observed two_reads(Peer& peer, const Budget& budget, bool later_is_atomic) {
  if (later_is_atomic && peer.greeting().atomic_capability == 0)
    throw NotTried{"the device has no atomics"};
  std::uint32_t repetitions = 0;
  const Seen seen = run(
      peer, budget,
      [&](Link& link, std::uint64_t slot) {
        if (!later_is_atomic) return write_both(link, slot);
        return std::vector{link.write(slot, x, 2 * word_bytes),
                           link.add(slot + 4 * word_bytes, y, 1)};
      },
      2,
      [&](Link& reader, Seen& noted) {
        reader.succeed({reader.read(returned, y, word_bytes)});
        reader.succeed({reader.read(returned + word_bytes, x, 2 * word_bytes)});
        const std::uint32_t later = count_at(peer, returned, noted, later_is_atomic);
        std::uint32_t earlier = count_at(peer, returned + word_bytes, noted);
        if (later_is_atomic)
          earlier = std::min(earlier, count_at(peer, returned + 2 * word_bytes, noted));
        note(noted, earlier, later);
      },
      repetitions);
  return observed_of(seen, repetitions, {{"y newer than x", seen.inverted, true}});
}

// Both READs in one chain.
Observed chained_reads(Peer& peer, const Budget& budget, bool is_fenced) {
  std::uint32_t repetitions = 0;
  const Seen seen = run(
      peer, budget, write_both, 1,
      [&](Link& reader, Seen& noted) {
        const WorkRequest second = reader.read(returned + word_bytes, x, word_bytes);
        reader.succeed({reader.read(returned, y, word_bytes), is_fenced ? fenced(second) : second});
        const std::uint32_t later = count_at(peer, returned, noted);
        note(noted, count_at(peer, returned + word_bytes, noted), later);
      },
      repetitions);
  return observed_of(seen, repetitions, {{"y newer than x", seen.inverted, is_fenced}});
}

// A completed WRITE, as another queue pair finds it.
Observed completed_write(Peer& peer, const Budget& budget) {
  const auto writer = peer.connect();
  const auto reader = peer.connect();
  const std::uint64_t end_ns = peer.host().now_ns() + budget.duration_ns;
  constexpr std::uint64_t slot = 32'768;
  std::uint32_t repetitions = 0;
  Seen seen;
  std::uint64_t older = 0;
  while (repetitions < budget.most_repetitions && peer.host().now_ns() < end_ns) {
    store_stamp(peer, slot, ++repetitions);
    writer->succeed({writer->write(slot, x, word_bytes)});
    reader->succeed({reader->read(returned, x, word_bytes)});
    if (count_at(peer, returned, seen) != repetitions) ++older;
  }
  return {.repetitions = repetitions,
          .outcomes = {{"READs of an older x", older}, {"torn words", seen.torn, true}}};
}

}  // namespace

std::vector<Shape> shapes_for_reader() {
  return {
      {"WRITE of 8 words | READ of 8 words", "rules 1, 2, 3",
       "never a part of a word; words of different WRITEs are counted", wide_read},
      {"WRITE x; WRITE y | READ y, completes; READ x", "rule 5", "never y newer than x",
       [](Peer& peer, const Budget& budget) { return two_reads(peer, budget, false); }},
      {"WRITE of x, x+1; FETCH_ADD y | READ y, completes; READ of x, x+1", "rule 8",
       "never y newer than x",
       [](Peer& peer, const Budget& budget) { return two_reads(peer, budget, true); }},
      {"WRITE x; WRITE y | READ y; READ x", "rule 6", "y newer than x is counted",
       [](Peer& peer, const Budget& budget) { return chained_reads(peer, budget, false); }},
      {"WRITE x; WRITE y | READ y; fenced READ x", "rule 7", "never y newer than x",
       [](Peer& peer, const Budget& budget) { return chained_reads(peer, budget, true); }},
      {"WRITE x, completes; READ x on another queue pair", "rule 10", "an older x is counted",
       completed_write},
  };
}

}  // namespace falafel::acceptance
