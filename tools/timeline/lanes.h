// Maps hosts, their fibers and their queue pairs to lanes of a timeline. Each client has one lane.
// The server has one for each of its parts, and one for its device, where requests take effect.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/sim/trace.h"
#include "tools/timeline/timeline.h"

namespace falafel::timeline {

class Lanes {
 public:
  // By the names of the clients' hosts, which are numbered in this order.
  explicit Lanes(std::vector<std::string> clients);

  void introduce(const sim::Subject& subject);

  std::uint32_t client(std::uint32_t client) const { return client; }
  std::uint32_t device() const { return clients_; }
  std::uint32_t collector() const { return clients_ + 1; }
  std::uint32_t cleanup() const { return clients_ + 2; }
  std::uint32_t membership() const { return clients_ + 3; }
  std::uint32_t server() const { return clients_ + 4; }
  // By number in the simulation; the server is the first host.
  std::uint32_t of_host(std::uint32_t host) const { return host == 0 ? server() : host - 1; }
  std::uint32_t of_fiber(std::uint32_t fiber) const;
  // Returns the lane of a client or `server()`.
  std::uint32_t of_queue_pair(std::uint32_t queue_pair) const;
  bool is_client(std::uint32_t lane) const { return lane < clients_; }

  std::vector<Lane> to_lanes() const;

 private:
  std::uint32_t of_host_name(std::string_view name) const;

  std::vector<std::string> names_;
  std::uint32_t clients_;
  std::map<std::uint32_t, std::uint32_t> fibers_;
  std::map<std::uint32_t, std::uint32_t> queue_pairs_;
};

}  // namespace falafel::timeline
