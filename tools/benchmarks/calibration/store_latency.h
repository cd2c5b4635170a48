// The time that the store's own client adds to its round trips. It shows in GETs of one client,
// because the requests of a GET, and its hash, checksums and copies, are known from other
// measurements.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "engine/server/server.h"
#include "fabric/fabric.h"
#include "tools/benchmarks/calibration/load.h"

namespace falafel::calibration {

// A store on this host that one client at a time can measure.
fabric::Result<std::unique_ptr<engine::Server>> start_store(fabric::Host& host);

struct StoreLoad {
  std::uint64_t keys = 500;
  double clock_ns = 0;  // the time of one reading of the clock
  // The limit for filling the store, and for the GETs of each kind: on a slow network, there are
  // fewer.
  std::uint64_t longest_ns = fabric::never_ns;
};

// Fills the store of that host and measures GETs. At least one key is stored and read.
tl::expected<StoreLatency, std::string> measure_store(fabric::Host& host, const std::string& server,
                                                      const StoreLoad& load);

}  // namespace falafel::calibration
