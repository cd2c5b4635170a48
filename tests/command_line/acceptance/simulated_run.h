// The two sides of an acceptance run as hosts of the simulator.
#pragma once

#include <functional>
#include <string>

#include "fabric/fabric.h"
#include "fabric/sim/options/options.h"
#include "tools/command_line/acceptance/part_report.h"

namespace falafel::acceptance {

inline constexpr const char* serving_host = "server";

// A device as little obliging as the rules permit.
sim::SimulationOptions weakest_device();

// Runs the body on the host that tries, while the other one serves. The body may replace the host
// by one that spoils requests.
void run_with_server(const sim::SimulationOptions& options, std::uint64_t seed,
                     const std::function<void(fabric::Host&)>& body);

// The row of that name, which must exist.
const Row& row_of(const PartReport& report, const std::string& name);

// Lists the rows whose verdict is none of "held", "counted" and "not tried".
std::string problems_of(const PartReport& report);

}  // namespace falafel::acceptance
