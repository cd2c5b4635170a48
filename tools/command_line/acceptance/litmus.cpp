#include "tools/command_line/acceptance/litmus.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "tools/command_line/acceptance/generated_programs.h"
#include "tools/command_line/acceptance/stamps.h"

namespace falafel::acceptance {
namespace {

constexpr std::uint32_t chains_in_flight = 4;
constexpr std::uint64_t slot_bytes = 256;
constexpr std::uint64_t slots_offset = 32'768;  // of this side's memory

std::string describe(const Observed& observed) {
  std::string text = fmt::format("{} times", observed.repetitions);
  for (const Outcome& outcome : observed.outcomes) {
    text += fmt::format("\n{}: {}", outcome.name, outcome.count);
  }
  return text;
}

}  // namespace

Row run_shape(fabric::Host& host, const std::string& server, const Shape& shape,
              const Budget& budget) {
  Row row{.name = shape.name, .source = shape.source, .expected = shape.expected, .observed = {}};
  try {
    Peer peer(host, server);
    peer.ask({.task = Task::fill, .offset = 0, .length = session_bytes, .value = 0});
    const Observed observed = shape.run(peer, budget);
    row.observed = describe(observed);
    const auto is_forbidden = [](const Outcome& outcome) { return outcome.is_forbidden; };
    const bool forbids = std::ranges::any_of(observed.outcomes, is_forbidden);
    const bool is_violated = std::ranges::any_of(observed.outcomes, [](const Outcome& outcome) {
      return outcome.is_forbidden && outcome.count > 0;
    });
    row.verdict = is_violated ? Verdict::violated : forbids ? Verdict::held : Verdict::counted;
    if (observed.repetitions == 0) row.verdict = Verdict::not_done;
  } catch (const Ending& ending) {
    row.observed = ending.shown;
    row.verdict = ending.verdict;
  }
  return row;
}

PartReport run_litmus(fabric::Host& host, const std::string& server, const Budget& budget) {
  PartReport report{.title = "Litmus tests",
                    .about =
                        "Small programs of docs/litmus.md, repeated. CPU is the processor of "
                        "the side that serves."};
  const std::uint64_t begin_ns = host.now_ns();
  std::vector<Shape> shapes = shapes_for_processor();
  for (auto more : {shapes_for_reader(), shapes_for_one_client()})
    shapes.insert(shapes.end(), more.begin(), more.end());
  const Budget each{.duration_ns = budget.duration_ns / 2 / shapes.size(),
                    .most_repetitions = budget.most_repetitions};
  for (const Shape& shape : shapes) report.rows.push_back(run_shape(host, server, shape, each));
  const Budget generated{.duration_ns = budget.duration_ns / 2,
                         .most_repetitions = budget.most_repetitions};
  report.rows.push_back(run_shape(host, server, generated_programs_shape(), generated));
  report.seconds = static_cast<double>(host.now_ns() - begin_ns) / 1e9;
  return report;
}

std::uint32_t stream(Peer& peer, Link& link, const Budget& budget, const MakeChain& make_chain) {
  const std::uint64_t end_ns = peer.host().now_ns() + budget.duration_ns;
  std::uint32_t count = 0;
  std::uint32_t in_flight = 0;
  while (true) {
    const bool is_over = count >= budget.most_repetitions || peer.host().now_ns() >= end_ns;
    if (!is_over && in_flight < chains_in_flight) {
      ++count;
      // The data of a chain stays as it is until the chain has completed.
      auto chain = make_chain(count, slots_offset + count % (2 * chains_in_flight) * slot_bytes);
      for (fabric::WorkRequest& request : chain) request.signalled = false;
      chain.back().signalled = true;
      link.post(chain);
      ++in_flight;
      continue;
    }
    if (in_flight == 0) return count;
    const fabric::CompletionStatus status = link.next().status;
    if (status != fabric::CompletionStatus::success)
      throw Mismatch{fmt::format("a request completed with: {}", to_string(status))};
    --in_flight;
  }
}

void store_stamp(Peer& peer, std::uint64_t slot, std::uint32_t count, std::uint64_t words) {
  for (std::uint64_t word = 0; word < words; ++word)
    peer.memory().store(slot + word * fabric::word_bytes, stamp_of(count));
}

void run_together(fabric::Host& host, const std::function<void()>& first,
                  const std::function<void(const bool& is_over)>& second) {
  bool is_over = false;
  std::exception_ptr failure;
  const auto guarded = [&](const std::function<void()>& body) {
    try {
      body();
    } catch (const Ending&) {
      failure = std::current_exception();
    }
  };
  const fabric::FiberId fiber =
      host.spawn({.name = "observer"}, [&] { guarded([&] { second(std::as_const(is_over)); }); });
  guarded(first);
  is_over = true;
  host.join(fiber);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace falafel::acceptance
