// A client of Pilaf: GET and `contains` by one-sided READs, PUT and DELETE by messages to the
// server; in Pilaf-VO (GetPath::messages), everything by messages.
//
//   auto client = Client::connect(host, {.host = "server", .service = 8}, {}).value();
//   client->set(key, value);
//   GetResult result = client->get(key);
//
// One fiber at a time may use a client. If the connection breaks or the server takes it down, the
// next operation connects again, also to a server that has restarted from its log. A restarted
// server without a log has none of the contents, so the client is disconnected for good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fabric/fabric.h"
#include "stores/operation_counts.h"
#include "stores/pilaf/connection.h"
#include "stores/pilaf/options.h"
#include "stores/pilaf/results.h"

namespace falafel::pilaf {

class Client {
 public:
  // Waits. Errors: those of Connection::open; invalid_argument (an option out of range).
  static fabric::Result<std::unique_ptr<Client>> connect(fabric::Host& host,
                                                         const fabric::Address& server,
                                                         const Options& options);

  // All of them wait. Keys and values are arbitrary bytes; a key has at least one.
  GetResult get(std::span<const std::byte> key);
  Result contains(std::span<const std::byte> key);  // found or not_found
  Result set(std::span<const std::byte> key, std::span<const std::byte> value);
  Result remove(std::span<const std::byte> key);
  Result ping();  // found: the server answers

  // The sum over all operations.
  const OperationStatistics& statistics() const { return counts_.total; }

 private:
  Client(fabric::Host& host, fabric::Address server, const Options& options)
      : host_(host), server_(std::move(server)), options_(options), id_(host.random(0)) {}

  bool is_too_large(std::span<const std::byte> key, std::span<const std::byte> value) const;
  bool ensure_connected();
  std::uint64_t most_retries() const;
  Answer look_up(std::span<const std::byte> key, std::vector<std::byte>* value);
  Answer get_by_message(std::span<const std::byte> key, std::vector<std::byte>* value);
  Answer ask(RequestKind kind, std::span<const std::byte> key, Reply& reply);
  Answer change(RequestKind kind, std::span<const std::byte> key, std::span<const std::byte> value);
  Result finish(Answer answer);

  fabric::Host& host_;
  fabric::Address server_;
  const Options options_;
  std::uint64_t id_;
  std::uint32_t last_request_id_ = 0;
  std::uint64_t incarnation_ = 0;
  std::uint32_t largest_request_bytes_ = 0;
  bool is_lost_ = false;  // the server that this client knew is gone
  stores::OperationCounts<OperationStatistics> counts_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace falafel::pilaf
