// Calls that the InfiniBand specification forbids. They fail as with libibverbs, and many programs
// do not look at that. In a strict run (ProgramsOptions), each is a violation.
#pragma once

#include <string>

#include "simulated_verbs/process_site.h"
#include "simulated_verbs/subnet.h"

namespace falafel::simulated_verbs {

// `rule`: the call and what it broke, with the section of the InfiniBand specification where only
// that says so. Returns the error.
inline int refuse_call(const ProcessSite& process, const std::string& rule, int error) {
  if (process.subnet().is_strict()) {
    process.subnet().report_invalid_call(process.host().name() + ": " + rule);
  }
  return error;
}

}  // namespace falafel::simulated_verbs
