// How many containers of a collision chain to read at once (Behringer 4.3.3): as many as a successful
// search is expected to need, after Knuth, at the load that the client has seen in the table.
#pragma once

#include <cstdint>

namespace falafel::engine {

// ceil((1 + 1 / (1 - load)) / 2), at most `most`; a load of 1 or more counts as full. The load is
// occupied / seen entries.
std::uint32_t expected_probes(std::uint64_t occupied, std::uint64_t seen, std::uint32_t most);

// The load factor, estimated from the chunks of the table that operations have read: their places are
// those of hashes, so they are a fair sample. Old chunks fade.
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
