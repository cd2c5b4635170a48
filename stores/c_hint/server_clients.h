// C-Hint's requests and replies over the server's ends of its clients' connections
// (stores/exchange/server_ends.h), and the containers into which clients WRITE their reports
// (C-Hint 3.4.1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "stores/c_hint/messages.h"
#include "stores/c_hint/options.h"
#include "stores/exchange/server_ends.h"

namespace falafel::c_hint {

// Each exchange may WRITE the reply of a report besides its reply.
stores::ServerEndsOptions server_ends_options(const Options& options);

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
                fabric::CompletionQueue& completions, const Options& options)
      : ends_(host, domain, completions, server_ends_options(options)) {}

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

  std::uint64_t connected() const { return ends_.connected(); }
  std::uint64_t malformed_requests() const { return ends_.malformed_requests(); }

 private:
  std::optional<Request> parse(const stores::ServerEnds::Arrival& arrival) const;
  bool is_well_formed(const RequestHeader& header, std::uint64_t length_bytes) const;

  stores::ServerEnds ends_;
};

}  // namespace falafel::c_hint
