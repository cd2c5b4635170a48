// The declarative form of a test: a generator draws the operations of each client before the run,
// and the body executes them. Campaigns know these operations, so shrinking removes clients and
// operations, and the replay file lists them.
//
//   const check::Workload<Queue> workload{
//       .clients = {2, 4}, .operations = {1, 6},
//       .draw = [](check::Draw& draw) -> Queue::Operation { ... }};
//   check::random({}, workload, [](check::World& world, const check::Plan<Queue>& plan) {
//     auto& history = world.history<Queue>();
//     ...
//     world.clients(plan.clients(), [&](fabric::Host& host, std::uint32_t client) {
//       RemoteQueue queue(host, "server");
//       for (const auto& operation : plan.operations(client)) {
//         history.call(client, operation, [&] { return queue.execute(operation); });
//       }
//     });
//     world.run();
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "checkers/specification.h"
#include "explorer/check.h"
#include "explorer/check/draw.h"
#include "explorer/check/history.h"
#include "explorer/check/program.h"
#include "explorer/check/world.h"

namespace falafel::check {

struct Range {
  std::uint32_t least = 1;
  std::uint32_t most = 1;

  std::uint32_t draw(fabric::RandomGenerator& random) const {
    return least + static_cast<std::uint32_t>(random.below(std::uint64_t{most} - least + 1));
  }
};

template <checkers::Specification S>
struct Workload {
  Range clients{2, 3};
  Range operations{1, 4};  // of each client
  // Must return the same operation for the same numbers.
  std::function<typename S::Operation(Draw&)> draw;
};

// The operations of one run.
template <checkers::Specification S>
class Plan {
 public:
  using Operations = std::vector<typename S::Operation>;

  explicit Plan(std::vector<Operations> clients) : clients_(std::move(clients)) {}

  std::uint32_t clients() const { return static_cast<std::uint32_t>(clients_.size()); }
  const Operations& operations(std::uint32_t client) const { return clients_.at(client); }

 private:
  std::vector<Operations> clients_;
};

template <checkers::Specification S>
using PlannedBody = std::function<void(World&, const Plan<S>&)>;

namespace workload {

// The simulator's options and strategies use the same seed, and their random numbers must be
// independent of these.
inline constexpr std::uint64_t stream = 0x776f726b6c6f6164;

template <checkers::Specification S>
DrawnClients draw(const Workload<S>& workload, std::uint64_t seed) {
  fabric::RandomGenerator random(seed ^ stream);
  DrawnClients clients(workload.clients.draw(random));
  for (auto& operations : clients) {
    operations.resize(workload.operations.draw(random));
    for (DrawnOperation& operation : operations) {
      Draw numbers(random);
      workload.draw(numbers);
      operation = numbers.numbers();
    }
  }
  return clients;
}

template <checkers::Specification S>
typename S::Operation draw_again(const Workload<S>& workload, const DrawnOperation& operation) {
  Draw numbers(operation);
  return workload.draw(numbers);
}

template <checkers::Specification S>
Plan<S> plan(const Workload<S>& workload, const DrawnClients& clients) {
  std::vector<typename Plan<S>::Operations> all;
  for (const auto& operations : clients) {
    auto& planned = all.emplace_back();
    for (const DrawnOperation& operation : operations) {
      planned.push_back(draw_again(workload, operation));
    }
  }
  return Plan<S>(std::move(all));
}

}  // namespace workload

// A body with its workload as a program for explorer::main.
template <checkers::Specification S>
std::unique_ptr<WorldProgram> program(std::string name, Workload<S> workload,
                                      std::type_identity_t<PlannedBody<S>> body,
                                      Network network = {}) {
  const auto shared = std::make_shared<const Workload<S>>(std::move(workload));
  Operations operations{
      .draw = [shared](std::uint64_t seed) { return workload::draw(*shared, seed); },
      .describe = std::make_shared<const DescribeOperation>([shared](const DrawnOperation& drawn) {
        return std::string(S::describe(workload::draw_again(*shared, drawn), nullptr));
      })};
  return std::make_unique<WorldProgram>(
      std::move(name), std::move(network),
      [shared, body = std::move(body)](World& world) {
        body(world, workload::plan(*shared, world.drawn_clients()));
      },
      std::move(operations));
}

// See check::random in check.h.
template <checkers::Specification S>
Result random(const Options& options, Workload<S> workload,
              std::type_identity_t<PlannedBody<S>> body,
              const std::source_location& caller = std::source_location::current()) {
  const auto planned =
      program<S>(name_of(options, caller), std::move(workload), std::move(body), options.network);
  return run_campaign(*planned, options, own_environment());
}

}  // namespace falafel::check
