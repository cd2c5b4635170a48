// An acceptance run: all parts, one after the other, against a side that serves.
#pragma once

#include <functional>
#include <string>

#include "falafel/fabric_options.h"
#include "tools/command_line/acceptance/page.h"

namespace falafel::acceptance {

struct AcceptanceOptions {
  FabricOptions fabric;
  std::string peer;  // address of the side that serves
  double minutes = 30;
  std::string name = "acceptance";  // of the report and the profile, without their endings
  std::string interface {};         // to take down; empty: none
  std::string command{};            // for the report
};

// Calls `on_part` with the title of each part before it begins. The calling process must not have
// threads.
AcceptanceReport run_acceptance(const AcceptanceOptions& options,
                                const std::function<void(const std::string&)>& on_part);

}  // namespace falafel::acceptance
