// The lanes of a timeline of the store: one for each client, one for the memory, in which requests
// take effect, and one for each part of the server.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/timeline/lanes.h"

namespace falafel::store_scenario {

class StoreLanes final : public timeline::Lanes {
 public:
  static constexpr std::string_view client_kind = "client";
  static constexpr std::string_view collector_kind = "collector";
  static constexpr std::string_view cleanup_kind = "cleanup";
  static constexpr std::string_view membership_kind = "membership";
  static constexpr std::string_view server_kind = "server";

  // By the names of the clients' hosts, which are numbered in this order.
  explicit StoreLanes(std::vector<std::string> clients);

  void introduce(const sim::Subject& subject) override;
  // The server is the first host.
  std::uint32_t of_host(std::uint32_t host) const override {
    return host == 0 ? server() : host - 1;
  }
  std::uint32_t of_fiber(std::uint32_t fiber) const override;
  // Returns the lane of a client or `server()`.
  std::uint32_t of_queue_pair(std::uint32_t queue_pair) const override;
  // Messages of the server belong to membership, its other requests to the part that posts them.
  std::uint32_t of_request(std::uint32_t queue_pair, std::uint32_t fiber,
                           fabric::Opcode opcode) const override;
  std::uint32_t of_party(std::string_view party) override { return of_host_name(party); }
  std::vector<timeline::Lane> to_lanes() const override;

  std::uint32_t collector() const { return clients_ + 1; }
  std::uint32_t cleanup() const { return clients_ + 2; }
  std::uint32_t membership() const { return clients_ + 3; }
  std::uint32_t server() const { return clients_ + 4; }
  bool is_client(std::uint32_t lane) const { return lane < clients_; }

 private:
  std::uint32_t of_host_name(std::string_view name) const;

  std::vector<std::string> names_;
  std::uint32_t clients_;
  std::map<std::uint32_t, std::uint32_t> fibers_;
  std::map<std::uint32_t, std::uint32_t> queue_pairs_;
};

}  // namespace falafel::store_scenario
