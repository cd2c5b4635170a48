// The kinds of Nessie that are explored.
#pragma once

#include <cstdint>
#include <string>

#include "stores/nessie/options.h"

namespace falafel::nessie_scenario {

enum class Variant : std::uint8_t {
  hardened,  // all safeguards; ablation switches them off one at a time
  published  // the protocol of the paper, with the readings that it leaves open drawn at random
};

struct Kind {
  nessie::Architecture architecture = nessie::Architecture::client_driven;
  Variant variant = Variant::hardened;
};

// "nessie-cd", "nessie-sd" or "nessie-hy", with "-published" behind it.
std::string name_of(const Kind& kind);

}  // namespace falafel::nessie_scenario
