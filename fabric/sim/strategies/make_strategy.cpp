#include "fabric/sim/strategies/make_strategy.h"

#include "fabric/assert.h"
#include "fabric/sim/strategies/pct_strategy.h"
#include "fabric/sim/strategies/pos_strategy.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "fabric/sim/strategies/urw_strategy.h"

namespace falafel::sim {

std::unique_ptr<Strategy> make_strategy(const SimulationOptions& options, std::uint64_t seed) {
  switch (options.strategy) {
    case StrategyKind::random: return std::make_unique<RandomStrategy>(seed);
    case StrategyKind::pct:
      return std::make_unique<PctStrategy>(seed, options.pct_depth, options.pct_steps);
    case StrategyKind::pos: return std::make_unique<PosStrategy>(seed);
    case StrategyKind::urw: return std::make_unique<UrwStrategy>(seed, StepCounts{});
  }
  fabric::assertion_failed("a known strategy", __FILE__, __LINE__,
                           fmt::format("strategy {}", static_cast<unsigned>(options.strategy)));
}

}  // namespace falafel::sim
