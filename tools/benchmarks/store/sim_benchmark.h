// A benchmark in the simulator, which counts round trips and lookups of the store's operations.
// Usually the adversary controls its virtual time, so it tells how much happens, not how long it
// takes on hardware. With the profile of a card, it predicts that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/store/conductor.h"
#include "tools/benchmarks/store/options.h"
#include "tools/benchmarks/store/result.h"

namespace falafel::store_benchmark {

struct Cluster {
  std::optional<sim::timing::Profile> profile{};  // none: time means nothing
  std::uint32_t nodes = 1;                        // that the clients are distributed among
  // The server runs on the first of them; otherwise it has a machine of its own.
  bool server_on_node = false;
};

tl::expected<BenchmarkResult, std::string> run_in_simulator(
    const BenchmarkOptions& options, std::function<void(const Progress&)> on_progress,
    const Cluster& cluster = {});

}  // namespace falafel::store_benchmark
