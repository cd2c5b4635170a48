// Decides by the seed which of the special kinds of worlds a scenario belongs to, in the shares
// that were chosen (Share). Each function changes a scenario that is otherwise complete.
#pragma once

#include <cstdint>

#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

class SpecialWorlds {
 public:
  // The choices must outlive the object.
  SpecialWorlds(const ScenarioChoices& choices, std::uint64_t seed)
      : choices_(choices), seed_(seed) {}

  void draw_hostile_client(Scenario& scenario) const;
  void draw_tag_world(Scenario& scenario) const;
  void draw_cache(Scenario& scenario) const;
  void draw_warm_restarts(Scenario& scenario) const;
  void draw_growth(Scenario& scenario) const;
  void draw_memory_growth(Scenario& scenario) const;
  void draw_scans(Scenario& scenario) const;
  void draw_updates(Scenario& scenario) const;
  void draw_heard_closes(Scenario& scenario) const;
  void draw_ends(Scenario& scenario) const;
  void draw_set_many(Scenario& scenario) const;
  void draw_tricks(Scenario& scenario) const;
  void draw_moves(Scenario& scenario) const;

 private:
  const ScenarioChoices& choices_;
  std::uint64_t seed_;
};

}  // namespace falafel::store_scenario
