// Litmus tests in which the results of a client's own requests tell the outcome.
#include <fmt/format.h>

#include <algorithm>

#include "tools/command_line/acceptance/litmus.h"
#include "tools/command_line/acceptance/stamps.h"

namespace falafel::acceptance {
namespace {

using fabric::word_bytes;
using fabric::WorkRequest;

constexpr std::uint64_t one_slot = 32'768;

// Repeats `once` with the counts 1, 2, ...
std::uint32_t repeat(Peer& peer, const Budget& budget,
                     const std::function<void(std::uint32_t)>& once) {
  const std::uint64_t end_ns = peer.host().now_ns() + budget.duration_ns;
  std::uint32_t count = 0;
  while (count < budget.most_repetitions && peer.host().now_ns() < end_ns) once(++count);
  return count;
}

Observed write_then_read(Peer& peer, const Budget& budget) {
  const auto link = peer.connect();
  std::uint64_t older = 0;
  const std::uint32_t repetitions = repeat(peer, budget, [&](std::uint32_t count) {
    store_stamp(peer, one_slot, count, wide_words);
    link->succeed({unsignalled(link->write(one_slot, x, wide_words * word_bytes)),
                   link->read(returned, x, wide_words * word_bytes)});
    for (std::uint64_t word = 0; word < wide_words; ++word) {
      if (peer.memory().load(returned + word * word_bytes) == stamp_of(count)) continue;
      ++older;
      break;
    }
  });
  return {.repetitions = repetitions, .outcomes = {{"READs of anything older", older, true}}};
}

Observed read_then_write(Peer& peer, const Budget& budget, bool is_fenced) {
  const auto link = peer.connect();
  std::uint64_t overtaken = 0;
  std::uint64_t other = 0;
  const std::uint32_t repetitions = repeat(peer, budget, [&](std::uint32_t count) {
    store_stamp(peer, one_slot, count);
    const WorkRequest write = link->write(one_slot, x, word_bytes);
    link->succeed({link->read(returned, x, word_bytes), is_fenced ? fenced(write) : write});
    const auto found = count_of(peer.memory().load(returned));
    if (found == count) {
      ++overtaken;
    } else if (found != count - 1) {
      ++other;
    }
  });
  return {.repetitions = repetitions,
          .outcomes = {{"READs that find the later WRITE", overtaken, is_fenced},
                       {"READs of anything else", other, true}}};
}

// Two queue pairs add to one word at the same time. No addition is lost, and no two find the same.
Observed additions_of_two(Peer& peer, const Budget& budget) {
  if (peer.greeting().atomic_capability == 0) throw NotTried{"the device has no atomics"};
  const auto first = peer.connect();
  const auto second = peer.connect();
  constexpr std::uint64_t in_flight = 8;
  std::uint64_t lost = 0;
  std::uint64_t expected = 0;
  const std::uint32_t repetitions = repeat(peer, budget, [&](std::uint32_t) {
    std::vector<WorkRequest> firsts;
    std::vector<WorkRequest> seconds;
    for (std::uint64_t number = 0; number < in_flight; ++number) {
      firsts.push_back(first->add(returned + 16 * number, x, 1));
      seconds.push_back(second->add(returned + 16 * number + word_bytes, x, 1));
    }
    first->post(firsts);
    second->succeed(seconds);
    for (std::uint64_t number = 0; number < in_flight; ++number) {
      if (first->next().status != fabric::CompletionStatus::success)
        throw Mismatch{"a FETCH_ADD failed"};
    }
    std::vector<std::uint64_t> found;
    for (std::uint64_t number = 0; number < 2 * in_flight; ++number)
      found.push_back(peer.memory().load(returned + number * word_bytes));
    std::ranges::sort(found);
    for (const std::uint64_t word : found) {
      if (word != expected++) ++lost;
    }
  });
  return {.repetitions = repetitions,
          .outcomes = {{"additions that found another sum", lost, true}}};
}

}  // namespace

std::vector<Shape> shapes_for_one_client() {
  return {
      {"WRITE of 8 words; READ of 8 words", "rule 5", "never anything older", write_then_read},
      {"READ x; WRITE x", "rule 5", "READs that find the WRITE are counted",
       [](Peer& peer, const Budget& budget) { return read_then_write(peer, budget, false); }},
      {"READ x; fenced WRITE x", "rule 7", "never the WRITE",
       [](Peer& peer, const Budget& budget) { return read_then_write(peer, budget, true); }},
      {"8 FETCH_ADD x on one queue pair | 8 on another", "rule 11", "never a lost addition",
       additions_of_two},
  };
}

}  // namespace falafel::acceptance
