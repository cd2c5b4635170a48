// Scenarios that are small enough to be explored exhaustively, which a program provides
// (docs/proofs.md).
#pragma once

#include <memory>
#include <string>

#include "explorer/exhaustive/exhaustive_options.h"
#include "explorer/program.h"

namespace falafel::explorer {

struct SmallWorld {
  std::string name;
  std::shared_ptr<const Scenario> scenario;
  ExhaustiveOptions exploration;  // the part of the run that is explored, and the bounds
};

// A small world in which the absence of a safeguard has a consequence.
struct SmallAblation {
  std::string safeguard;
  SmallWorld world;                                   // all properties hold
  std::shared_ptr<const Scenario> without_safeguard;  // some schedule violates a property
};

}  // namespace falafel::explorer
