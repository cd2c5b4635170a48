// Judges when an operator changes keys (engine/placement/change.h): only within a lease of a moment
// at which the directory had the operator's list, so nobody who takes the change over and waits
// meets these operations. An answer of the directory may be old when it arrives.
//
// Property: "cluster.operates-late".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace falafel::cluster_scenario {

class LeaseWatch {
 public:
  explicit LeaseWatch(std::uint64_t lease_ns) : lease_ns_(lease_ns) {}

  // The directory had the operator's list then, and will answer so.
  void on_list_read(std::uint64_t read_ns) { read_ns_ = read_ns; }
  // The operator begins to change a key. Returns an objection if its lease has ended.
  std::optional<std::string> objection_to_change(std::uint64_t now_ns) const;

 private:
  std::uint64_t lease_ns_;
  std::optional<std::uint64_t> read_ns_{};
};

}  // namespace falafel::cluster_scenario
