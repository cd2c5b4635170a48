// A run of a scenario, judged by all checkers.
//
// The clients execute their plans, reconnect when a connection breaks, and disconnect at the end.
// When all clients have left and the server is idle, the run appends the contents of its memory to
// the history as a read of every key. The linearizability checker thereby verifies the final state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkers/judgement.h"
#include "checkers/linearizability.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/strategy.h"
#include "tools/scenarios/store/attacked_slots.h"
#include "tools/scenarios/store/fresh_keys.h"
#include "tools/scenarios/store/run_listener.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/vocabulary.h"

namespace falafel::store_scenario {

class Runner final : public explorer::Runner {
 public:
  explicit Runner(bool paranoid = false);

  // `scenario` is a Scenario of this program.
  explorer::Run run(const explorer::Scenario& scenario, sim::Strategy& strategy) override;
  explorer::Run run_observed(const explorer::Scenario& scenario, sim::Strategy& strategy,
                             explorer::RunListener& listener) override;
  const explorer::Vocabulary& vocabulary(const explorer::Scenario& scenario) override;
  std::shared_ptr<timeline::Recorder> create_recorder(const explorer::Scenario& scenario) override;
  // The same with a listener, which may be null and must outlive the run.
  explorer::Run run(const explorer::Scenario& scenario, sim::Strategy& strategy,
                    RunListener* listener);

 private:
  checkers::Judgement check_store(std::span<const checkers::Operation> history,
                                  const Scenario& scenario, const AttackedSlots& attacked,
                                  const FreshKeys& fresh);

  bool paranoid_;
  fabric::FiberStackPool stacks_;
  std::optional<Scenario> named_;  // the scenario that vocabulary_ names
  std::optional<StoreVocabulary> vocabulary_;
  checkers::LinearizabilityChecker linearizability_;
};

}  // namespace falafel::store_scenario
