// Clients that execute batches execute each of their operations once.
#include <gtest/gtest.h>

#include "explorer/replay.h"
#include "explorer/scripted_strategy.h"
#include "tools/store_scenario/program.h"
#include "tools/store_scenario/run.h"

namespace falafel::store_scenario {
namespace {

// A fiber chose its operations only after the pause before them. Meanwhile, others executed
// operations that the fiber then executed again, in one batch that was longer than all batches may
// be. When it was cancelled, it left no buffers for further operations.
TEST(Batches, AreChosenBeforeThePause) {
  const auto loaded = explorer::load_replay(
      StoreProgram(), FALAFEL_SOURCE_FOLDER "/tests/store_scenario/batch-after-a-pause.replay");
  ASSERT_TRUE(loaded.has_value()) << loaded.error();
  Runner runner;
  explorer::ScriptedStrategy strategy(explorer::answers_of(loaded->file.choices), 1);
  const explorer::Run run = runner.run(*loaded->scenario, strategy);
  EXPECT_TRUE(run.violations.empty()) << run.violations.front().explanation;
}

}  // namespace
}  // namespace falafel::store_scenario
