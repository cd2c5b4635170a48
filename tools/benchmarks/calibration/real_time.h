// A calibration of shared memory or of a device over libibverbs.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "falafel/fabric_options.h"
#include "tools/benchmarks/calibration/parties.h"

namespace falafel::calibration {

struct RealTimeOptions {
  FabricOptions fabric;
  std::uint32_t clients = 8;
  std::uint32_t rounds = 3;
  std::uint64_t duration_ns = 100'000'000;  // of each load
  // The server that runs `serve_forever`. Empty: a process of the calibration on this machine.
  std::string server;
};

// Measures the loads in every round. The clients are processes of their own; the calling process
// must not have threads. `on_progress` hears of each finished load. Returns the error that a party
// reported, or how the party ended.
tl::expected<std::vector<Measurement>, std::string> measure_in_real_time(
    const RealTimeOptions& options, std::span<const Load> loads,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& on_progress);

// Serves calibrations of other machines until the process ends.
tl::expected<void, std::string> serve_forever(const FabricOptions& fabric);

}  // namespace falafel::calibration
