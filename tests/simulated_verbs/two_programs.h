// Runs two programs, "left" and "right", under a number of schedules. Their endpoints exchange
// cards by these names.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "explorer/check.h"
#include "simulated_verbs/programs.h"
#include "tests/simulated_verbs/endpoint.h"

namespace falafel::simulated_verbs {

class TwoPrograms {
 public:
  using Body = std::function<void(TwoPrograms&)>;

  explicit TwoPrograms(check::World& world) : world_(world) {}

  // Violates the property "test".
  void expect(bool holds, const std::string& what) { world_.check(holds, "test", what); }
  template <typename Value, typename Other>
  void expect_equal(const Value& value, const Other& other, const std::string& what) {
    expect(value == other, what + ": " + std::to_string(value) + ", not " + std::to_string(other));
  }
  // Offers the card and connects to the peer's.
  Card connect(Endpoint& endpoint, const std::string& own_name, const std::string& peer_name) {
    exchange.offer(own_name, endpoint.card());
    const Card peer = exchange.await(peer_name);
    expect_equal(endpoint.connect(peer), 0, "connecting");
    return peer;
  }

  Exchange exchange;

 private:
  check::World& world_;
};

inline check::Result run_two_programs(const std::string& name, const TwoPrograms::Body& left,
                                      const TwoPrograms::Body& right, std::uint64_t schedules = 60,
                                      std::vector<sim::FaultKind> faults = check::delays(),
                                      const ProgramsOptions& options = {}) {
  return check::random(
      {.name = name,
       .schedules = schedules,
       .output = testing::TempDir(),
       .network = {.faults = std::move(faults),
                   .adjust =
                       [](sim::SimulationOptions& network) { network.max_inline_bytes = 64; }}},
      [&](check::World& world) {
        Programs programs(world, options);
        TwoPrograms run(world);
        const auto as_main = [&run](const TwoPrograms::Body& body) {
          return [&run, &body] {
            body(run);
            return 0;
          };
        };
        programs.client("left", as_main(left));
        programs.client("right", as_main(right));
        world.run();
      });
}

}  // namespace falafel::simulated_verbs
