// How many containers of a collision chain to read at once (Behringer 4.3.3): the number that a
// successful search is expected to need (Knuth) at the table load that the client has observed.
#pragma once

#include <cstdint>

#include "engine/client/client_options.h"

namespace falafel::engine {

// Returns ceil((1 + 1 / (1 - load)) / 2), but at most `most`. The load is occupied / seen entries;
// a load of 1 or more counts as a full table.
std::uint32_t expected_probes(std::uint64_t occupied, std::uint64_t seen, std::uint32_t most);

// Returns whether the number depends on the load.
inline bool expects_probes(const ReadaheadOptions& options) {
  return options.adaptive && options.containers > 1;
}

// Estimates the load factor from the chunks of the table that operations read. Hashes determine
// their positions, so they are a fair sample. The weight of old chunks decays.
class LoadEstimate {
 public:
  void add(std::uint64_t occupied, std::uint64_t seen);
  std::uint64_t occupied() const { return occupied_; }
  std::uint64_t seen() const { return seen_; }

 private:
  static constexpr std::uint64_t window_entries = 4'096;

  std::uint64_t occupied_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace falafel::engine
