// Litmus tests in which the processor of the other side observes.
#include <fmt/format.h>

#include "tools/command_line/acceptance/litmus.h"
#include "tools/command_line/acceptance/observers.h"
#include "tools/command_line/acceptance/stamps.h"

namespace falafel::acceptance {
namespace {

using fabric::word_bytes;
using fabric::WorkRequest;

constexpr std::uint64_t messages_offset = 16'384;  // of the other side's memory
constexpr std::uint64_t message_buffers = 16;

// Streams while the other side observes, and returns what it counted.
template <typename Counted>
Counted observe(Peer& peer, const Command& watch, const std::function<void()>& act) {
  const auto stopper = peer.connect();
  peer.begin_asking(watch);
  try {
    act();
  } catch (const Ending&) {
    peer.stop_observer(*stopper);
    throw;
  }
  return from_words<Counted>(peer.stop_observer(*stopper).words);
}

struct Pair {
  std::uint64_t earlier = x;
  std::uint64_t later = y;
  bool later_counts_plainly = false;
};

TwoWords watch(Peer& peer, const Budget& budget, const Pair& pair,
               const std::function<std::vector<WorkRequest>(Link&, std::uint64_t slot)>& chain_of,
               std::uint64_t words, std::uint32_t& repetitions) {
  const auto link = peer.connect();
  return observe<TwoWords>(peer,
                           {.task = Task::watch_two_words,
                            .offset = pair.earlier,
                            .value = pair.later_counts_plainly ? 1U : 0U,
                            .compare = pair.later},
                           [&] {
                             repetitions = stream(peer, *link, budget, [&](auto count, auto slot) {
                               store_stamp(peer, slot, count, words);
                               return chain_of(*link, slot);
                             });
                           });
}

Observed observed_of(const TwoWords& counted, std::uint32_t repetitions, const char* inverted,
                     bool is_forbidden) {
  return {.repetitions = repetitions,
          .outcomes = {{"looks of the processor", counted.looks},
                       {"changes that it saw", counted.changes},
                       {inverted, counted.inverted, is_forbidden},
                       {"torn words", counted.torn, true}}};
}

Observed whole_word(Peer& peer, const Budget& budget) {
  std::uint32_t repetitions = 0;
  const TwoWords counted = watch(
      peer, budget, {.earlier = x, .later = x},
      [](Link& link, std::uint64_t slot) { return std::vector{link.write(slot, x, word_bytes)}; },
      1, repetitions);
  return observed_of(counted, repetitions, "an older word after a newer one", true);
}

Observed two_writes(Peer& peer, const Budget& budget) {
  std::uint32_t repetitions = 0;
  const TwoWords counted = watch(
      peer, budget, {},
      [](Link& link, std::uint64_t slot) {
        return std::vector{link.write(slot, x, word_bytes), link.write(slot, y, word_bytes)};
      },
      1, repetitions);
  return observed_of(counted, repetitions, "y before x (the processor may see WRITEs late)", false);
}

Observed write_then_add(Peer& peer, const Budget& budget) {
  if (peer.greeting().atomic_capability == 0) throw NotTried{"the device has no atomics"};
  std::uint32_t repetitions = 0;
  const TwoWords counted = watch(
      peer, budget, {.later_counts_plainly = true},
      [](Link& link, std::uint64_t slot) {
        return std::vector{link.write(slot, x, word_bytes), link.add(slot + word_bytes, y, 1)};
      },
      1, repetitions);
  return observed_of(counted, repetitions, "y before x (an atomic does not show WRITEs to it)",
                     false);
}

// `descends`: the processor loads the last word first, so it could see the last word before the
// first one.
Observed one_wide_write(Peer& peer, const Budget& budget, bool descends) {
  constexpr std::uint64_t last = x + (wide_words - 1) * word_bytes;
  std::uint32_t repetitions = 0;
  const TwoWords counted = watch(
      peer, budget, {.earlier = descends ? x : last, .later = descends ? last : x},
      [](Link& link, std::uint64_t slot) {
        return std::vector{link.write(slot, x, wide_words * word_bytes)};
      },
      wide_words, repetitions);
  const bool is_promised = descends && peer.greeting().places_in_address_order != 0;
  return observed_of(
      counted, repetitions,
      descends ? "the last word before the first one" : "the first word before the last one",
      is_promised);
}

// The earlier of two overlapping chains on one queue pair never lands last, so no other word than a
// newer one follows: the first queue pair has the WRITE to x, the second the one to y.
Observed two_queue_pairs(Peer& peer, const Budget& budget) {
  const auto first = peer.connect();
  const auto second = peer.connect();
  std::uint32_t repetitions = 0;
  const TwoWords counted =
      observe<TwoWords>(peer, {.task = Task::watch_two_words, .offset = x, .compare = y}, [&] {
        const std::uint64_t end_ns = peer.host().now_ns() + budget.duration_ns;
        constexpr std::uint64_t slot = 32'768;
        while (repetitions < budget.most_repetitions && peer.host().now_ns() < end_ns) {
          store_stamp(peer, slot, ++repetitions);
          first->post({first->write(slot, x, word_bytes)});
          second->post({second->write(slot, y, word_bytes)});
          for (Link* const link : {first.get(), second.get()}) {
            if (link->next().status != fabric::CompletionStatus::success)
              throw Mismatch{"a WRITE failed"};
          }
        }
      });
  return observed_of(counted, repetitions, "the second WRITE before the first", false);
}

enum class Flush : std::uint8_t { same_chain, completed, completed_read };

// Sends a message for each WRITE, and the processor loads the word after it has received it.
Observed messages(Peer& peer, const Budget& budget, Flush flush) {
  const auto link = peer.connect();
  const auto other = peer.connect();
  Link& sender = flush == Flush::same_chain ? *link : *other;
  std::uint32_t repetitions = 0;
  const Messages counted = observe<Messages>(
      peer,
      {.task = Task::watch_messages,
       .object = sender.number(),
       .offset = x,
       .value = message_buffers,
       .compare = messages_offset},
      [&] {
        if (flush == Flush::same_chain) {
          repetitions = stream(peer, *link, budget, [&](auto count, auto slot) {
            store_stamp(peer, slot, count);
            return std::vector{link->write(slot, x, word_bytes), link->send(slot, word_bytes)};
          });
          return;
        }
        const std::uint64_t end_ns = peer.host().now_ns() + budget.duration_ns;
        constexpr std::uint64_t slot = 32'768;
        while (repetitions < budget.most_repetitions && peer.host().now_ns() < end_ns) {
          store_stamp(peer, slot, ++repetitions);
          link->succeed({link->write(slot, x, word_bytes)});
          if (flush == Flush::completed_read)
            link->succeed({link->read(slot + word_bytes, y, word_bytes)});
          sender.succeed({sender.send(slot, word_bytes)});
        }
      });
  return {.repetitions = repetitions,
          .outcomes = {
              {"messages", counted.messages},
              {"an older word after the message", counted.older_word, flush != Flush::completed},
              {"messages out of order", counted.out_of_order, true},
              {"failed receives", counted.failed, true}}};
}

Observed additions_of_both(Peer& peer, const Budget& budget) {
  if (peer.greeting().atomic_capability == 0) throw NotTried{"the device has no atomics"};
  const auto link = peer.connect();
  std::uint32_t repetitions = 0;
  const auto counted = observe<CountedUp>(peer, {.task = Task::count_up, .offset = x}, [&] {
    repetitions = stream(peer, *link, budget,
                         [&](auto, auto slot) { return std::vector{link->add(slot, x, 1)}; });
  });
  const std::uint64_t left = peer.ask({.task = Task::load, .offset = x}).words[0];
  const bool is_global = peer.greeting().atomic_capability ==
                         static_cast<std::uint64_t>(fabric::AtomicCapability::global);
  return {.repetitions = repetitions,
          .outcomes = {{"additions of the processor", counted.additions},
                       {"lost additions", repetitions + counted.additions - left, is_global}}};
}

Observed failing_swaps(Peer& peer, const Budget& budget) {
  if (peer.greeting().atomic_capability == 0) throw NotTried{"the device has no atomics"};
  const auto link = peer.connect();
  std::uint32_t repetitions = 0;
  const auto counted = observe<StoredUp>(peer, {.task = Task::store_up, .offset = x}, [&] {
    repetitions = stream(peer, *link, budget, [&](auto, auto slot) {
      return std::vector{link->swap(slot, x, ~std::uint64_t{0}, 0)};
    });
  });
  const bool is_global = peer.greeting().atomic_capability ==
                         static_cast<std::uint64_t>(fabric::AtomicCapability::global);
  return {.repetitions = repetitions,
          .outcomes = {{"stores of the processor", counted.stores},
                       {"stores undone by a CAS that does not match", counted.undone, is_global}}};
}

}  // namespace

std::vector<Shape> shapes_for_processor() {
  return {
      {"WRITE x | CPU loads x, x", "rule 1", "never a part of a word", whole_word},
      {"WRITE x; WRITE y | CPU loads y, x", "rules 5, 10",
       "never torn words; y before x is counted", two_writes},
      {"WRITE x; FETCH_ADD y | CPU loads y, x", "rule 8", "never torn words; y before x is counted",
       write_then_add},
      {"WRITE of 8 words | CPU loads the last, the first", "rule 3",
       "the last before the first is counted, unless the device promises address order",
       [](Peer& peer, const Budget& budget) { return one_wide_write(peer, budget, true); }},
      {"WRITE of 8 words | CPU loads the first, the last", "rule 3",
       "the first before the last is counted",
       [](Peer& peer, const Budget& budget) { return one_wide_write(peer, budget, false); }},
      {"WRITE x on one queue pair | WRITE y on another | CPU loads y, x", "rule 9",
       "every order is counted", two_queue_pairs},
      {"WRITE x; SEND | CPU receives, loads x", "rules 5, 10", "never an older x",
       [](Peer& peer, const Budget& budget) { return messages(peer, budget, Flush::same_chain); }},
      {"WRITE x, completes; SEND on another queue pair | CPU receives, loads x", "rule 10",
       "an older x is counted",
       [](Peer& peer, const Budget& budget) { return messages(peer, budget, Flush::completed); }},
      {"WRITE x; READ y, complete; SEND on another queue pair | CPU receives, loads x", "rule 10",
       "never an older x",
       [](Peer& peer, const Budget& budget) {
         return messages(peer, budget, Flush::completed_read);
       }},
      {"FETCH_ADD x | CPU adds to x by CAS", "rules 11, 13",
       "lost additions are counted, unless the device promises global atomics", additions_of_both},
      {"CAS x that does not match | CPU stores x", "rule 12",
       "undone stores are counted, unless the device promises global atomics", failing_swaps},
  };
}

}  // namespace falafel::acceptance
