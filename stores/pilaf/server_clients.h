// The server's side of its clients' connections: receive requests, replies, and taking connections
// down. Everything is bounded, whatever a client does.
//
// A client has as many exchanges as receive requests. Each has a buffer for a request and one for
// its reply, and its receive request is posted again when the reply has been sent. A client that
// sends more waits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "stores/pilaf/messages.h"
#include "stores/pilaf/options.h"

namespace falafel::pilaf {

std::uint32_t completions_per_client(const Options& options);

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
                fabric::CompletionQueue& completions, const Options& options);
  ~ServerClients();
  ServerClients(const ServerClients&) = delete;
  ServerClients& operator=(const ServerClients&) = delete;

  // Accepts or rejects. An earlier connection of the same client is taken down.
  void admit(fabric::ConnectionRequest& request, const ServerHello& hello);
  // Polls one completion, and handles it. Returns false if there was none. `request` becomes the
  // request that arrived, if one did.
  bool poll(std::optional<Request>& request);
  // Does nothing if the connection is down.
  void reply(const Request& request, ReplyStatus status, std::span<const std::byte> value = {});

  // Before growing. Both wait, until deadline_ns at most.
  void announce_growth(std::uint64_t deadline_ns);
  void take_all_down(std::uint64_t deadline_ns);

  std::uint64_t connected() const;
  std::uint64_t malformed_requests() const { return malformed_requests_; }

 private:
  struct Connection;

  fabric::Result<std::unique_ptr<Connection>> make_connection();
  Connection* find(std::uint32_t number);
  void post_receive(Connection& connection, std::uint32_t exchange);
  void send(Connection& connection, std::uint32_t buffer, const ReplyHeader& header,
            std::span<const std::byte> value);
  std::optional<Request> handle(const fabric::WorkCompletion& completion);
  std::optional<Request> parse(Connection& connection, std::uint32_t exchange,
                               std::uint32_t length_bytes);
  void take_down(Connection& connection);
  void forget_drained();
  template <typename Condition>
  void wait_until(const Condition& condition, std::uint64_t deadline_ns);

  fabric::Host& host_;
  fabric::ProtectionDomain& domain_;
  fabric::CompletionQueue& completions_;
  const Options& options_;
  std::map<std::uint32_t, std::unique_ptr<Connection>> connections_;
  std::uint32_t next_number_ = 1;
  std::uint64_t malformed_requests_ = 0;
};

}  // namespace falafel::pilaf
