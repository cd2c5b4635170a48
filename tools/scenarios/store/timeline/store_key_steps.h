// The key steps of a violation in a run of the store: also the SETs of the value that was found,
// and the fate of the entries and regions that the value was in.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "explorer/timeline/key_steps.h"
#include "tools/scenarios/store/timeline/store_memory.h"

namespace falafel::store_scenario {

class StoreKeySteps final : public timeline::KeyStepSearch {
 public:
  // The timeline is one of the store.
  explicit StoreKeySteps(const timeline::Timeline& timeline);

 private:
  std::vector<std::uint32_t> decisive_readings(std::uint32_t operation) const override;
  void add_context_of(const timeline::OperationSpan& operation) override;
  void add_context_of(const checkers::Judgement& violation, std::uint64_t last_step) override;

  void add_stores_of(const timeline::OperationSpan& reader);
  void add_slots_of_key(const std::string& key);
  void add_slot(std::uint64_t slot, std::uint64_t last_step);
  void add_memory_at(std::uint64_t offset, std::uint64_t last_step);
  void add_states_of(std::uint64_t region, std::uint64_t last_step);
  bool is_container(std::uint64_t offset) const {
    return offset >= memory_.geometry.region_offset(0);
  }

  const timeline::Timeline& run_;
  const StoreMemory& memory_;
  std::set<std::uint64_t> regions_;  // regions that were added
};

}  // namespace falafel::store_scenario
