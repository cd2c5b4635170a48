// The examples in headers of checkers/ and explorer/. tools/checks/examples compares them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "checkers/specification_linearizability.h"
#include "checkers/specifications/queue.h"
#include "explorer/check.h"
#include "explorer/check/endpoint.h"
#include "explorer/check/exhaustive.h"
#include "explorer/check/workload.h"
#include "explorer/exhaustive/search.h"
#include "explorer/main.h"
namespace falafel::examples {

struct Counter {
  using State = std::int64_t;
  using Operation = std::int64_t;  // the addend
  using Result = std::int64_t;     // the counter before
  static State initial() { return 0; }
  static bool apply(State& state, const Operation& addend, const Result* before) {
    const bool is_right = before == nullptr || *before == state;
    state += addend;
    return is_right;
  }
  static std::string describe(const Operation& addend, const Result* before) {
    return fmt::format("add {} -> {}", addend, before ? std::to_string(*before) : "?");
  }
};

using checkers::specifications::Queue;
using Push = Queue::Push;

// A queue of the program that is tested.
struct RemoteQueue {
  RemoteQueue(fabric::Host& /*host*/, const std::string& /*server*/) {}
  Queue::Result execute(const Queue::Operation& /*operation*/) { return std::nullopt; }
  Queue::Result push(std::uint64_t /*value*/) { return std::nullopt; }
};

void judge_a_counter() {
  checkers::SpecificationHistory<Counter> history;
  const std::size_t add = history.call(/*time=*/1, /*client=*/0, 5);
  history.complete(/*time=*/2, add, 0);
  const checkers::Judgement judgement = checkers::check_linearizability(history);
  EXPECT_EQ(judgement.verdict, checkers::Verdict::holds) << judgement.explanation;
}

void share_a_table(fabric::Host& host) {
  check::Endpoint endpoint(host);
  endpoint.share("table", 64);
  endpoint.serve();
}

std::uint64_t read_under_a_lock(fabric::Host& host) {
  constexpr std::uint64_t lock = 0;
  constexpr std::uint64_t value = 8;
  check::Endpoint endpoint(host);
  const auto connection = endpoint.connect("server");
  const check::RemoteRegion table = connection->region("table");
  while (connection->compare_and_swap(table, lock, 0, 1) != 0) {
  }
  const check::Outcome outcome =
      connection->execute(check::Chain().read(table, value).write(table, lock, 0).fenced());
  return outcome.word(0);
}

void test_a_counter() {
  const auto body = [](check::World& world) {
    std::shared_ptr<fabric::MemoryBlock> memory;
    world.server("server", [&](fabric::Host& host) { memory = host.allocate_memory(8).value(); });
    world.clients(3, [&](fabric::Host& host, std::uint32_t client) { host.sleep_until(client); });
    world.run();
    world.check(check::word(memory, 0) == 3, "counter.lost-update", "an increment is lost");
  };
  auto result = falafel::check::random({.schedules = 20'000}, [](falafel::check::World& world) {
    world.client("client", [](fabric::Host&) {});
    world.run();
  });
  EXPECT_TRUE(result.holds()) << result.story();
  auto proof = falafel::check::exhaustive({}, [](falafel::check::World& world) {
    world.client("client", [](fabric::Host&) {});
    world.run();
  });
  EXPECT_TRUE(proof.is_complete() && proof.holds()) << proof.story();
  check::random({}, body);
}

void record_a_history(check::World& world, std::uint32_t client, RemoteQueue& queue) {
  auto& history = world.history<Queue>();
  history.call(client, Push{7}, [&] { return queue.push(7); });
}

void test_a_queue() {
  const check::Workload<Queue> workload{
      .clients = {2, 4}, .operations = {1, 6}, .draw = [](check::Draw& draw) -> Queue::Operation {
        return Push{draw.below(10)};
      }};
  check::random({}, workload, [](check::World& world, const check::Plan<Queue>& plan) {
    auto& history = world.history<Queue>();
    world.server("server", [](fabric::Host&) {});
    world.clients(plan.clients(), [&](fabric::Host& host, std::uint32_t client) {
      RemoteQueue queue(host, "server");
      for (const auto& operation : plan.operations(client)) {
        history.call(client, operation, [&] { return queue.execute(operation); });
      }
    });
    world.run();
  });
}

void search_all_executions(explorer::Search& search, const std::function<bool()>& run) {
  do {
    const bool is_cut_off = run();
    search.end_execution(is_cut_off);
  } while (search.find_next_execution());
}

void body(check::World& world) { world.run(); }

int main(int count, char** arguments) {
  const auto queue = falafel::check::program("queue", body);
  const falafel::explorer::Program* const programs[] = {queue.get()};
  return falafel::explorer::main(count, arguments, programs);
}

}  // namespace falafel::examples
