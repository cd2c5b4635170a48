// Rare branches that a campaign of Nessie must reach.
#pragma once

#include "explorer/check/world.h"
#include "stores/nessie/client.h"
#include "stores/nessie/service.h"
#include "tools/scenarios/nessie/kind.h"

namespace falafel::nessie_scenario {

// Conditions of the variant with all safeguards. Null where the architecture has no such branch.
class Conditions {
 public:
  Conditions(check::World& world, const Kind& kind);

  void note_watermarks();  // clients poll on them
  void note(const nessie::OperationStatistics& statistics);
  void note(const nessie::ServiceStatistics& statistics);

 private:
  check::Condition* watermarks_ = nullptr;
  check::Condition* migrated_ = nullptr;
  check::Condition* lost_migration_ = nullptr;
  check::Condition* lost_swap_ = nullptr;
  check::Condition* invalid_entry_ = nullptr;
  check::Condition* changed_index_ = nullptr;
  check::Condition* changed_entry_ = nullptr;
  check::Condition* deadline_ = nullptr;
  check::Condition* timed_out_ = nullptr;
  check::Condition* incomplete_response_ = nullptr;
  check::Condition* incomplete_request_ = nullptr;
  check::Condition* moved_ = nullptr;
  check::Condition* waited_ = nullptr;
};

}  // namespace falafel::nessie_scenario
