// How stories and timelines of the store name what its runs touch: entries by slot, and containers
// by region.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "explorer/vocabulary.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

class StoreVocabulary final : public explorer::Vocabulary {
 public:
  // The scenario outlives it.
  explicit StoreVocabulary(const Scenario& scenario) : scenario_(scenario) {}

  std::string host(std::uint32_t number) const override;
  std::string place(std::uint64_t offset) const override;
  std::string word(std::uint64_t word) const override;
  // Entries one by one, and containers only by their place.
  std::string data(std::uint64_t offset, std::span<const std::byte> data) const override;

 private:
  const Scenario& scenario_;
};

}  // namespace falafel::store_scenario
