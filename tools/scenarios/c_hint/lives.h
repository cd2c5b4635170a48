// The lives of the values of a run: some SETs carry a time to live, and nobody may get the value
// when it is over.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "checkers/specifications/key_value_map.h"

namespace falafel::c_hint_scenario {

class Lives {
 public:
  using Map = checkers::specifications::KeyValueMap;

  // The time to live of some SETs; 0: no value has an end.
  explicit Lives(std::uint64_t life_ns) : life_ns_(life_ns) {}

  bool have_ends() const { return life_ns_ > 0; }
  // The time to live of this operation; 0: it is no SET, or without end.
  std::uint64_t life_ns_of(const Map::Operation& operation) const;

  // A client calls the operation, and may never know whether it took effect.
  void call(const Map::Operation& operation);
  // The server has carried it out, before this time.
  void carried_out(const Map::Operation& operation, std::uint64_t now_ns);

  // The end of the latest life of this value. Nothing: a life may last longer.
  std::optional<std::uint64_t> end_of(const std::string& key, const std::string& value) const;

 private:
  // The SETs of one value; usually there is one.
  struct Sets {
    std::uint32_t open = 0;  // called, and not carried out as far as clients know
    std::uint64_t latest_end_ns = 0;
  };

  std::uint64_t life_ns_;
  std::map<std::pair<std::string, std::string>, Sets> sets_;  // by key and value
};

}  // namespace falafel::c_hint_scenario
