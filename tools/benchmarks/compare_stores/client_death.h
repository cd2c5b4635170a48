// The effects of a client's death on the others. A client dies in the middle of a SET, at moments
// that are spread evenly over the operation, one run for each; a node on its host goes on.
// Afterwards another client reads all keys, writes the key of that SET and reads it again.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {

struct ClientDeath {
  std::uint32_t moments = 0;
  std::uint32_t key_unreadable = 0;  // moments after which a GET of the key never answered
  std::uint32_t key_unwritable = 0;  // moments after which a SET of the key never succeeded
  double other_keys_lost = 0;        // share of the other keys that nobody can read any more
  double longest_get_us = 0;         // of the key, where it answered
  double longest_set_us = 0;
};

// An error explains why a run could not be made.
tl::expected<ClientDeath, std::string> let_clients_die(const sim::timing::Profile& profile,
                                                       const ComparedStore& store,
                                                       std::uint32_t moments);

}  // namespace falafel::compare_stores
