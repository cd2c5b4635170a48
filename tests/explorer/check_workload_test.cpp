// Histories that are judged by a specification, and the declarative form: a queue whose pushes
// reserve a slot before they fill it is found and shrunk to one push and one pop.
#include "explorer/check/workload.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <variant>
#include <vector>

#include "explorer/check.h"
#include "explorer/replay.h"

namespace falafel::check {
namespace {

using testing::HasSubstr;

struct Queue {
  struct Push {
    std::uint64_t value;
    friend bool operator==(const Push&, const Push&) = default;
  };
  struct Pop {
    friend bool operator==(const Pop&, const Pop&) = default;
  };
  using State = std::vector<std::uint64_t>;
  using Operation = std::variant<Push, Pop>;
  using Result = std::optional<std::uint64_t>;  // of a pop; empty: the queue is empty

  static State initial() { return {}; }
  static bool apply(State& state, const Operation& operation, const Result* result) {
    if (const auto* push = std::get_if<Push>(&operation)) {
      state.push_back(push->value);
      return result == nullptr || !result->has_value();
    }
    const Result front = state.empty() ? Result() : Result(state.front());
    if (!state.empty()) state.erase(state.begin());
    return result == nullptr || *result == front;
  }
  static std::string describe(const Operation& operation, const Result* result) {
    if (const auto* push = std::get_if<Push>(&operation))
      return fmt::format("push {}", push->value);
    if (result == nullptr) return "pop";
    return *result ? fmt::format("pop -> {}", **result) : "pop -> empty";
  }
};

// Two counters and a row of slots, which no test fills. Correct if pushes fill their slot before
// they announce it; then only one client may push.
class RingOfSlots {
 public:
  RingOfSlots(fabric::Host& host, bool fills_first)
      : memory_(host, "server"), fills_first_(fills_first) {}

  Queue::Result execute(const Queue::Operation& operation) {
    if (const auto* push = std::get_if<Queue::Push>(&operation)) {
      fills_first_ ? push_filled(push->value) : push_empty(push->value);
      return std::nullopt;
    }
    return pop();
  }

 private:
  static constexpr std::uint64_t head = 0;
  static constexpr std::uint64_t tail = 8;
  static constexpr std::uint64_t slots = 16;

  void push_empty(std::uint64_t value) {
    const std::uint64_t place = memory_.fetch_and_add(tail, 1);
    memory_.write(slots + 8 * place, value);
  }
  void push_filled(std::uint64_t value) {
    memory_.write(slots + 8 * memory_.read(tail), value);
    memory_.fetch_and_add(tail, 1);
  }
  Queue::Result pop() {
    while (true) {
      const std::uint64_t first = memory_.read(head);
      if (first == memory_.read(tail)) return std::nullopt;
      const std::uint64_t value = memory_.read(slots + 8 * first);
      if (memory_.compare_and_swap(head, first, first + 1) == first) return value;
    }
  }

  RemoteMemory memory_;
  bool fills_first_;
};

Workload<Queue> workload() {
  return {.clients = {2, 4}, .operations = {1, 6}, .draw = [](Draw& draw) -> Queue::Operation {
            if (draw.one_in(2)) return Queue::Pop();
            return Queue::Push{1 + draw.below(9)};
          }};
}

void add_server(World& world) {
  world.server("server", [&](fabric::Host& host) { MemoryServer(host, 1'024).serve(); });
}

void run_queue(World& world, const Plan<Queue>& plan) {
  add_server(world);
  auto& history = world.history<Queue>();
  world.clients(plan.clients(), [&](fabric::Host& host, std::uint32_t client) {
    RingOfSlots queue(host, false);
    for (const Queue::Operation& operation : plan.operations(client)) {
      history.call(client, operation, [&] { return queue.execute(operation); });
    }
  });
  world.run();
}

Options queue_options(std::string name) {
  return {.name = std::move(name),
          .schedules = 2'000,
          .shrink_seconds = 120,  // shrinking ends earlier, even with sanitizers on a busy machine
          .output = testing::TempDir() + "check_workload_test"};
}

TEST(Workload, ShrinksToTheFewestOperations) {
  const Result result = random(queue_options("queue"), workload(), run_queue);
  ASSERT_FALSE(result.holds());
  const Failure& failure = result.failures.front();
  EXPECT_EQ(failure.property, "linearizability");
  const auto queue = program<Queue>("queue", workload(), run_queue);
  const auto replay = explorer::load_replay(*queue, failure.replay_path);
  ASSERT_TRUE(replay.has_value()) << replay.error();
  const WorldScenario& scenario = world_scenario(*replay->scenario);
  EXPECT_LE(scenario.clients.size(), 2U);
  EXPECT_EQ(scenario.operation_count(), 2U) << scenario.describe();
  EXPECT_THAT(scenario.describe(), HasSubstr("push 1\n"));
  EXPECT_THAT(result.story(), HasSubstr("calls push 1"));
  EXPECT_THAT(result.story(), HasSubstr("returns: pop -> 0"));
  EXPECT_EQ(scenario.to_json()["clients"].size(), scenario.clients.size());

  const Result replayed =
      run_campaign(*queue, queue_options("queue"), {.replay = failure.replay_path});
  ASSERT_EQ(replayed.failures.size(), 1U) << replayed.story();
  EXPECT_EQ(replayed.failures.front().property, "linearizability");
}

TEST(Workload, IsTheSameTwice) {
  Options options = queue_options("queue");
  options.schedules = 50;
  const auto queue = program<Queue>("queue", workload(), run_queue);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto scenario = queue->draw(seed);
    EXPECT_EQ(scenario->to_json(), queue->draw(seed)->to_json());
    const auto parsed = queue->parse(scenario->to_json());
    ASSERT_TRUE(parsed.has_value()) << parsed.error();
    EXPECT_EQ((*parsed)->to_json(), scenario->to_json());
  }
}

TEST(Workload, RefusesScenariosThatAreNone) {
  const auto queue = program<Queue>("queue", workload(), run_queue);
  const nlohmann::json good = queue->draw(1)->to_json();
  for (const char* member : {"seed", "choices", "clients", "without"}) {
    nlohmann::json bad = good;
    bad.erase(member);
    EXPECT_FALSE(queue->parse(bad).has_value()) << member;
    bad[member] = {"text", -1};
    if (std::string_view(member) != "without") {
      EXPECT_FALSE(queue->parse(bad).has_value()) << member;
    }
  }
  EXPECT_FALSE(queue->parse(nlohmann::json::array()).has_value());
}

// One producer that fills its slots first, and any number of consumers.
TEST(History, HoldsForACorrectQueue) {
  const auto body = [](World& world) {
    add_server(world);
    auto& history = world.history<Queue>();
    world.clients(3, [&](fabric::Host& host, std::uint32_t client) {
      RingOfSlots queue(host, true);
      for (std::uint64_t times = 1; times <= 3; ++times) {
        const Queue::Operation operation =
            client == 0 ? Queue::Operation(Queue::Push{times}) : Queue::Operation(Queue::Pop());
        history.call(client, operation, [&] { return queue.execute(operation); });
      }
    });
    world.run();
  };
  const Result result = random(queue_options("correct queue"), body);
  EXPECT_TRUE(result.holds()) << result.story();
}

// An operation whose connection broke may have taken effect or not.
TEST(History, AllowsEitherOutcomeOfALostOperation) {
  const auto body = [](World& world) {
    add_server(world);
    auto& history = world.history<Queue>();
    world.clients(2, [&](fabric::Host& host, std::uint32_t client) {
      RingOfSlots queue(host, true);
      const Queue::Operation operation =
          client == 0 ? Queue::Operation(Queue::Push{1}) : Queue::Operation(Queue::Pop());
      for (int times = 0; times < 2; ++times) {
        history.call(client, operation, [&] { return queue.execute(operation); });
      }
    });
    world.run();
  };
  Options options = queue_options("lost operations");
  options.network.faults = {sim::FaultKind::queue_pair_error, sim::FaultKind::client_crash};
  const Result result = random(options, body);
  EXPECT_TRUE(result.holds()) << result.story();
}

}  // namespace
}  // namespace falafel::check
