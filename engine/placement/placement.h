// Determines which server a key belongs to while servers join and leave.
//
// The list of servers is one value in a directory that all clients read (PlacementDirectory). Two
// clients never use different servers for one key at the same time:
//
// - A client uses a list only for a while after it has asked for it: the lease. Before it begins an
//   operation, it checks that the list is still usable.
// - A change has two steps. The first adds the next list; keys that move are then used by nobody.
//   When all operations under the list before have certainly ended (PlacementTimes::settle_ns),
//   the keys that move are copied. The second step replaces the list by the next one.
//
// So an operation on a key at its old server ends before the first one at the new server begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/client/rendezvous_hashing.h"
#include "engine/time_bounds.h"

namespace falafel::engine {

// The same for all clients of a list, which contains them.
struct PlacementTimes {
  // How long a list may be used after the client asked for it.
  std::uint64_t lease_ns = default_lease_ns;
  // How long a change waits. By least_settle_ns(lease_ns), operations under an older list have then
  // ended, unless a server was stopped meanwhile.
  std::uint64_t settle_ns = default_settle_ns;

  friend bool operator==(const PlacementTimes&, const PlacementTimes&) = default;
};

struct PlacementList {
  std::vector<std::string> servers;
  // During a change: the list after it, and who makes it (a random number). Otherwise empty and 0.
  std::vector<std::string> next{};
  std::uint64_t changed_by = 0;
  PlacementTimes times{};

  bool is_changing() const { return !next.empty(); }
  friend bool operator==(const PlacementList&, const PlacementList&) = default;
};

// Why a list of servers cannot be used: it is empty, or has an empty name or a name twice. Empty if
// it can.
std::string problem_of(std::span<const std::string> servers);

class Placement {
 public:
  // Requires lists without a problem.
  explicit Placement(PlacementList list);

  const PlacementList& list() const { return list_; }
  // The index in list().servers. None while the key moves to another server.
  std::optional<std::size_t> server_of(std::span<const std::byte> key) const;
  // The same as if no change was under way.
  const std::string& current_server_of(std::span<const std::byte> key) const;
  // The server where the key will be; requires a change.
  const std::string& next_server_of(std::span<const std::byte> key) const;

 private:
  PlacementList list_;
  RendezvousHashing current_;
  std::optional<RendezvousHashing> next_;
};

}  // namespace falafel::engine
