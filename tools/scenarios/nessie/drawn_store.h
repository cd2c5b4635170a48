// The store of one run: how many nodes it has, and their options. Everything is small, so that
// entries move and are used again at once.
#pragma once

#include <cstdint>
#include <string>

#include "explorer/check/world.h"
#include "fabric/time_units.h"
#include "stores/nessie/options.h"
#include "tools/scenarios/nessie/kind.h"

namespace falafel::nessie_scenario {

using fabric::microsecond_ns;

// Values have two words. An adversary's are in tools/scenarios/colliding_values.h.
enum class Values : std::uint8_t { equal_words, colliding };

struct DrawnStore {
  std::uint32_t nodes = 1;
  std::uint64_t most_attempts = 0;  // of an operation; 0: any number
  Values values = Values::equal_words;
  nessie::Options options{};
  // Clients rely on watermarks whether or not the device promises the order of addresses.
  bool trusts_watermarks = false;
};

DrawnStore draw_store(check::World& world, const Kind& kind);
std::string describe(const DrawnStore& store);

}  // namespace falafel::nessie_scenario
