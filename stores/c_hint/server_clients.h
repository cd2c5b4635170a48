// The server's side of its clients' connections: requests, replies, and the containers into which
// clients WRITE their reports (C-Hint 3.4.1). Everything is bounded, whatever a client does.
//
// A client has two exchanges. Each has a buffer for a request and one for its reply, and its
// receive request is posted again when the reply has been sent. A client that sends more waits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "stores/c_hint/messages.h"
#include "stores/c_hint/options.h"

namespace falafel::c_hint {

// Of each exchange: the receive request, the reply, and the WRITE of a report's reply.
inline constexpr std::uint32_t exchanges_per_client = 2;
inline constexpr std::uint32_t completions_per_client = 3 * exchanges_per_client;

// A request that the server must serve.
struct Request {
  std::uint32_t connection = 0;
  std::uint32_t exchange = 0;
  RequestHeader header{};
  std::vector<std::byte> key{};
  std::vector<std::byte> value{};  // of a SET, or a report
};

class ServerClients {
 public:
  // All of them outlive this object.
  ServerClients(fabric::Host& host, fabric::ProtectionDomain& domain,
                fabric::CompletionQueue& completions, const Options& options);
  ~ServerClients();
  ServerClients(const ServerClients&) = delete;
  ServerClients& operator=(const ServerClients&) = delete;

  // Accepts or rejects. An earlier connection of the same client is taken down. The container's key
  // is put into `hello`.
  void admit(fabric::ConnectionRequest& request, ServerHello hello);
  // Polls one completion, and handles it. Returns false if there was none. `request` becomes the
  // request that arrived, if one did.
  bool poll(std::optional<Request>& request);
  // Both do nothing if the connection is down. The second one WRITEs `contents` into the client's
  // container first; they fit it.
  void reply(const Request& request, ReplyHeader header, std::span<const std::byte> value = {});
  void reply_by_write(const Request& request, ReplyHeader header,
                      std::span<const std::byte> contents);

  std::uint64_t connected() const;
  std::uint64_t malformed_requests() const { return malformed_requests_; }

 private:
  struct Connection;

  fabric::Result<std::unique_ptr<Connection>> make_connection(const ClientHello& client);
  Connection* find(std::uint32_t number);
  void post_receive(Connection& connection, std::uint32_t exchange);
  void post(Connection& connection, std::span<const fabric::WorkRequest> chain);
  fabric::WorkRequest message(Connection& connection, std::uint32_t exchange,
                              const ReplyHeader& header, std::span<const std::byte> value);
  std::optional<Request> handle(const fabric::WorkCompletion& completion);
  std::optional<Request> parse(Connection& connection, std::uint32_t exchange,
                               std::uint32_t length_bytes);
  bool is_well_formed(const RequestHeader& header, std::uint32_t length_bytes) const;
  void take_down(Connection& connection);
  void forget_drained();

  fabric::Host& host_;
  fabric::ProtectionDomain& domain_;
  fabric::CompletionQueue& completions_;
  const Options& options_;
  std::map<std::uint32_t, std::unique_ptr<Connection>> connections_;
  std::uint32_t next_number_ = 1;
  std::uint64_t malformed_requests_ = 0;
};

}  // namespace falafel::c_hint
