// A client of C-Hint: GET by a READ while it has a pointer whose lease runs, everything else by
// messages. Now and then it reports to the server what it has READ.
//
//   auto client = Client::connect(host, {.host = "server", .service = 9}, {}).value();
//   client->set(key, value);
//   GetResult result = client->get(key);
//
// One fiber at a time may use a client. If the connection breaks, the next operation connects
// again. If another run of the server answers, the client forgets its pointers. Clients of one host
// may share their pointers and reports (node_cache.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/c_hint/connection.h"
#include "stores/c_hint/layout.h"
#include "stores/c_hint/node_cache.h"
#include "stores/c_hint/options.h"
#include "stores/c_hint/pointer_cache.h"
#include "stores/c_hint/results.h"
#include "stores/operation_counts.h"

namespace falafel::c_hint {

class Client {
 public:
  // Waits. The clients that share `node` have the same host, server and options. Null: the client
  // has a cache of its own. Errors: those of Connection::open; invalid_argument (an option out of
  // range).
  static fabric::Result<std::unique_ptr<Client>> connect(fabric::Host& host,
                                                         const fabric::Address& server,
                                                         const Options& options,
                                                         std::shared_ptr<NodeCache> node = nullptr);

  // All of them wait. Keys and values are arbitrary bytes; a key has at least one. They report
  // first if Options::report_interval_ns has passed since the last report of the node.
  GetResult get(std::span<const std::byte> key);
  // The key is gone `life_ns` after the server stored the value, by its wall clock. 0: it stays.
  Result set(std::span<const std::byte> key, std::span<const std::byte> value,
             std::uint64_t life_ns = 0);
  Result remove(std::span<const std::byte> key);
  Result ping();    // found: the server answers
  Result report();  // found: the server has received it; also if there was nothing to report

  // The pointers that a GET would READ by now, by the hash of their key: promises of the server.
  std::map<std::uint64_t, CachedPointer> leased_pointers();

  // The sum over all operations.
  const OperationStatistics& statistics() const { return counts_.total; }

 private:
  Client(fabric::Host& host, fabric::Address server, const Options& options,
         std::shared_ptr<NodeCache> node)
      : host_(host),
        server_(std::move(server)),
        options_(options),
        id_(host.random(0)),
        node_(std::move(node)) {}

  std::uint64_t lease_clock_ns();
  Verifier verifier() const;
  bool is_too_large(std::span<const std::byte> key, std::span<const std::byte> value) const;
  bool ensure_connected();
  // Null: the node has pointers of another run of the server.
  PointerCache* pointers() { return node_->pointers_of(hello_.incarnation); }
  Answer look_up(std::span<const std::byte> key, GetResult& result);
  bool read(std::span<const std::byte> key, GetResult& result);
  Answer get_by_message(std::span<const std::byte> key, std::vector<std::byte>& value);
  // A request that changes nothing is repeated on the next connection. The time by the clock of
  // leases at which the answered one was sent; nothing: the client is disconnected.
  std::optional<std::uint64_t> ask(RequestKind kind, std::span<const std::byte> key, Reply& reply);
  Answer change(RequestKind kind, std::span<const std::byte> key, std::span<const std::byte> value,
                std::uint64_t life_ns);
  void keep(std::span<const std::byte> key, const RemotePointer& pointer, std::uint64_t sent_ns);
  std::uint64_t end_of_lease_here(std::uint64_t lease_ns, std::uint64_t sent_ns);
  void report_if_due();
  Answer send_report();
  std::vector<ReportEntry> pick_report();
  ExchangeOutcome exchange_report(std::span<const ReportEntry> entries, Reply& reply);
  Result finish(Answer answer);

  fabric::Host& host_;
  fabric::Address server_;
  const Options options_;
  std::uint64_t id_;
  std::shared_ptr<NodeCache> node_;
  std::uint32_t last_request_id_ = 0;
  ServerHello hello_{};
  stores::OperationCounts<OperationStatistics> counts_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace falafel::c_hint
