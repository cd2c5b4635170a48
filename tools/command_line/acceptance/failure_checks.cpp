// Queue pairs in error: flushes, silence of the other end, and the fence.
#include <fmt/format.h>

#include "tools/command_line/acceptance/conformance.h"

namespace falafel::acceptance {
namespace {

using fabric::CompletionStatus;
using fabric::WorkRequest;

// Gives up on a silent other end soon, but not on one that a busy machine delays.
constexpr fabric::QueuePairOptions impatient{.acknowledge_timeout_ns = 50 * fabric::millisecond_ns,
                                             .retry_count = 3};

std::string flushed_in_order(Peer& peer) {
  const auto link = peer.connect();
  link->queue_pair().move_to_error();
  for (std::uint64_t id = 1; id <= 3; ++id) {
    WorkRequest request = link->read(0, remote_place, 8);
    request.id = id;
    request.signalled = id == 3;
    link->post({request});
  }
  for (std::uint64_t id = 1; id <= 3; ++id) {
    const fabric::WorkCompletion completion = link->next();
    demand_status(completion.status, CompletionStatus::flushed);
    demand(completion.id == id, fmt::format("flush {} instead of {}", completion.id, id));
  }
  return "all are flushed, in order, signalled or not";
}

std::string silent(Peer& peer, Task task) {
  const auto link = peer.connect(impatient);
  link->succeed({link->read(0, remote_place, 8)});
  peer.ask({.task = task, .object = link->number()});
  const std::uint64_t begin_ns = peer.host().now_ns();
  demand_status(link->status_of(link->write(0, remote_place, 8)), CompletionStatus::retry_exceeded);
  const std::uint64_t taken_ns = peer.host().now_ns() - begin_ns;
  demand_status(link->status_of(link->read(0, remote_place, 8)), CompletionStatus::flushed);
  return fmt::format("retry exceeded after {:.2f} s; the next request is flushed",
                     static_cast<double>(taken_ns) / 1e9);
}

// Streams WRITEs, each with an atomic behind it, until the other end is fenced.
void write_until_failure(Peer& peer, Link& link) {
  constexpr std::uint64_t most_rounds = 1'000'000;
  for (std::uint64_t round = 1; round < most_rounds; ++round) {
    peer.memory().write(0, pattern(2'048, static_cast<std::uint8_t>(round % 200)));
    if (link.status_of(link.write(0, remote_place, 2'048)) != CompletionStatus::success) return;
  }
  throw Mismatch{"requests still succeed after the fence"};
}

std::string nothing_lands_after_the_fence(Peer& peer) {
  const auto link = peer.connect(impatient);
  const auto other = peer.connect();
  // The fence comes while WRITEs are under way, from the fiber beside this one.
  bool has_failed = false;
  std::string failure;
  const fabric::FiberId writer = peer.host().spawn({.name = "writer"}, [&] {
    try {
      write_until_failure(peer, *link);
    } catch (const Ending& ending) {
      failure = ending.shown;
    }
    has_failed = true;
  });
  peer.host().sleep_until(peer.host().now_ns() + 5 * fabric::millisecond_ns);
  peer.ask({.task = Task::move_to_error, .object = link->number()});
  const auto received =
      from_words<Received>(peer.ask({.task = Task::flush, .object = link->number()}).words);
  const auto status = static_cast<CompletionStatus>(received.status);
  std::vector<std::byte> first;
  bool is_changed = false;
  for (int look = 0; look < 20; ++look) {
    other->succeed({other->read(returned, remote_place, 2'048)});
    const auto bytes = bytes_at(peer, returned, 2'048);
    if (look == 0) first = bytes;
    is_changed = is_changed || bytes != first;
    peer.host().sleep_until(peer.host().now_ns() + fabric::millisecond_ns);
  }
  peer.host().join(writer);
  demand(has_failed && failure.empty(), failure);
  demand_status(status, CompletionStatus::flushed);
  demand(!is_changed, "memory changed after the flush");
  return "flushed; memory stays as it is";
}

}  // namespace

std::vector<Check> failure_checks() {
  return {
      {"requests of a queue pair in error", "rule 18", "flushed in order", flushed_in_order},
      {"the other end is in error", "rule 22", "retries are exceeded, then flushes",
       [](Peer& peer) { return silent(peer, Task::move_to_error); }},
      {"the other end is closed", "rule 22", "retries are exceeded, then flushes",
       [](Peer& peer) { return silent(peer, Task::close); }},
      {"fence of a writer: move_to_error, then a flush", "rule 21, contract: fencing",
       "nothing lands after the flush", nothing_lands_after_the_fence},
  };
}

}  // namespace falafel::acceptance
