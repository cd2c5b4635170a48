// The parties that read and swap entries: clients are identified by queue pair, and the server's
// parties by fiber. A fiber of the server reads with the processor and swaps with the processor or
// through its own queue pair.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/trace.h"

namespace falafel::store_scenario {

class Parties {
 public:
  static constexpr std::string_view server_host = "server";
  // The host of the hostile client, if there is one.
  static constexpr std::string_view hostile_host = "hostile client";

  void introduce(const sim::Subject& subject);
  // Call when a fiber has posted a request on a queue pair.
  void on_posted(std::uint32_t queue_pair, fabric::FiberId fiber);

  bool is_hostile(std::uint32_t queue_pair) const;

  // The numbers of queue pairs and of fibers are disjoint.
  static constexpr std::uint32_t of_fiber(fabric::FiberId fiber) { return fiber | fiber_bit; }
  std::uint32_t of_queue_pair(std::uint32_t queue_pair) const;
  // The newest queue pair of that client's host.
  std::uint32_t newest_of_client(std::uint32_t client) const { return newest_of_client_[client]; }
  // A host of the scenario's own clients, which are honest.
  static bool is_client_host(std::string_view host);
  static constexpr bool is_client(std::uint32_t party) { return (party & fiber_bit) == 0; }
  static std::string name(std::uint32_t party);

 private:
  static constexpr std::uint32_t fiber_bit = std::uint32_t{1} << 31;

  std::vector<std::uint32_t> party_of_queue_pair_;
  std::set<std::uint32_t> hostile_;  // queue pairs
  std::vector<std::uint32_t> newest_of_client_;
};

}  // namespace falafel::store_scenario
