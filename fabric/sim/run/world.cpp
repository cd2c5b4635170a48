#include "fabric/sim/run/world.h"

#include <stdexcept>

namespace falafel::sim {

World::World(const SimulationOptions& run_options, Strategy& run_strategy,
             fabric::FiberStackPool& stack_pool, TraceObserver* observer,
             const timing::Profile* profile)
    : options(run_options),
      costs(profile == nullptr ? nullptr : std::make_unique<timing::CostModel>(*profile)),
      timed_answers(profile == nullptr ? nullptr
                                       : std::make_unique<timing::TimedAnswers>(run_strategy)),
      strategy(timed_answers == nullptr ? run_strategy : *timed_answers),
      stacks(stack_pool),
      trace(observer) {
  if (const auto problem = find_invalid_option(options)) throw std::invalid_argument(*problem);
  if (costs != nullptr) {
    if (run_strategy.step_observer() != nullptr) {
      throw std::invalid_argument("a timed run has one schedule, so it cannot be explored");
    }
    ready.order_by_time();
  }
  hosts.reserve(usual_count);
  host_states.reserve(usual_count);
  fibers.reserve(usual_count);
  completion_queues.reserve(usual_count);
  queue_pairs.reserve(usual_count);
  responders.reserve(usual_count);
  handshakes.reserve(usual_count);
}

// Nobody must use the world while its parts are destroyed.
World::~World() { lifetime.reset(); }

void World::report_touch(Touchable object, std::uint32_t number, Access access) {
  step_observer->touch({object, number, access});
}

std::uint64_t World::ask(ChoiceKind kind, std::uint64_t bound, Answers sufficient) {
  const std::uint64_t value = strategy.choose(trace.ask(kind, bound, sufficient));
  FALAFEL_ASSERT(bound == 0 || value < bound, "the strategy answered {} of {}", value, bound);
  return value;
}

std::size_t World::ask_for_actor() {
  const std::size_t movable = ready.size();
  const std::size_t chosen =
      strategy.schedule(trace.ask(ChoiceKind::schedule, movable), ready.ids());
  FALAFEL_ASSERT(chosen < movable, "the strategy chose actor {} of {}", chosen, movable);
  return chosen;
}

}  // namespace falafel::sim
