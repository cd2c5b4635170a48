#include "tools/scenarios/store/keys_of_chain.h"

#include <span>
#include <string>

#include "engine/layout/key_hash.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

std::uint64_t home_of(std::uint32_t key, const Scenario& scenario) {
  const std::string name = key_name(key);
  return engine::home_slot(std::as_bytes(std::span(name)), scenario.hash_key,
                           scenario.geometry.table_entries);
}

std::vector<std::uint32_t> keys_with_home(std::uint64_t home, std::uint64_t count,
                                          const Scenario& scenario) {
  std::vector<std::uint32_t> keys;
  for (std::uint32_t key = 0; keys.size() < count; ++key) {
    if (home_of(key, scenario) == home) keys.push_back(key);
  }
  return keys;
}

}  // namespace falafel::store_scenario
