// Pilaf's requests and replies over the server's ends of its clients' connections
// (stores/exchange/server_ends.h), and the announcement that the server grows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "stores/exchange/server_ends.h"
#include "stores/pilaf/messages.h"
#include "stores/pilaf/options.h"

namespace falafel::pilaf {

// Each connection has an announcement besides its exchanges.
stores::ServerEndsOptions server_ends_options(const Options& options);

// A request that the server must serve.
struct Request {
  std::uint32_t connection = 0;
  std::uint32_t exchange = 0;
  std::uint64_t client_id = 0;
  RequestHeader header{};
  std::vector<std::byte> key{};
  std::vector<std::byte> value{};
};

class ServerClients {
 public:
  // All of them outlive this object.
  ServerClients(fabric::Host& host, fabric::ProtectionDomain& domain,
                fabric::CompletionQueue& completions, const Options& options)
      : ends_(host, domain, completions, server_ends_options(options)) {}

  // Accepts or rejects. An earlier connection of the same client is taken down.
  void admit(fabric::ConnectionRequest& request, const ServerHello& hello);
  // Polls one completion, and handles it. Returns false if there was none. `request` becomes the
  // request that arrived, if one did.
  bool poll(std::optional<Request>& request);
  // Does nothing if the connection is down.
  void reply(const Request& request, ReplyStatus status, std::span<const std::byte> value = {});

  // Before growing. Both wait, until deadline_ns at most.
  void announce_growth(std::uint64_t deadline_ns);
  void take_all_down(std::uint64_t deadline_ns) { ends_.take_all_down(deadline_ns); }

  std::uint64_t connected() const { return ends_.connected(); }
  std::uint64_t malformed_requests() const { return ends_.malformed_requests(); }

 private:
  stores::ServerEnds ends_;
};

}  // namespace falafel::pilaf
