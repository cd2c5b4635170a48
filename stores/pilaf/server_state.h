// The server at work: its fibers, the requests that it serves, and how it grows.
//
// Growing moves the table or the extents, so all connections are taken down first, and clients
// learn the new places when they connect again (Pilaf 3.3, 4). The request that made the server
// grow is carried out, but its reply is lost with the connection.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "fabric/fabric.h"
#include "stores/exchange/exchange_server.h"
#include "stores/pilaf/requests.h"
#include "stores/pilaf/server.h"
#include "stores/pilaf/server_memory.h"
#include "stores/pilaf/update_log.h"

namespace falafel::pilaf {

class ServerState final : public std::enable_shared_from_this<ServerState>,
                          public stores::ExchangeService {
 public:
  ServerState(fabric::Host& host, const Options& options);

  // Errors: see Server::start.
  fabric::Result<void> start();
  // Does not wait.
  void stop();

  ServerInspection inspect() const;
  ServerStatistics statistics() const;
  HashMap& map() { return memory_->map(); }

 private:
  // The last change that a client asked for (Safeguards::request_deduplication). The server keeps
  // it for as long as it runs.
  struct LastChange {
    std::uint32_t request_id = 0;
    ReplyStatus status = ReplyStatus::stored;
  };

  void admit(fabric::ConnectionRequest& request) override;
  bool serve(const stores::ServerEnds::Arrival& arrival) override;
  void serve(const Request& request);
  void serve_get(const Request& request);
  void serve_change(const Request& request);
  ReplyStatus change(const Request& request);
  ReplyStatus change_and_log(const LoggedChange& change);
  ReplyStatus log_and_change(const LoggedChange& change);
  ReplyStatus carry_out(const LoggedChange& change);
  ReplyStatus put(const LoggedChange& change);
  void reply(const Request& request, ReplyStatus status, std::span<const std::byte> value = {});
  bool grow(Growth growth);
  void announce_growth(std::uint64_t deadline_ns);
  ServerHello hello();
  fabric::Result<void> open_log();
  stores::Checksum checksum() const;

  fabric::Host& host_;
  const Options options_;
  std::uint64_t incarnation_;
  stores::ExchangeServer server_;
  std::unique_ptr<ServerMemory> memory_;
  std::unique_ptr<UpdateLog> log_;  // null: no log
  std::optional<fabric::FiberId> flusher_;
  std::unique_ptr<fabric::Event> has_grown_;
  bool is_growing_ = false;
  std::map<std::uint64_t, LastChange> last_changes_;  // by client
  ServerStatistics statistics_;
};

}  // namespace falafel::pilaf
