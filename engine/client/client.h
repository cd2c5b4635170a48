// A client of the store: GET, SET and DELETE by one-sided RDMA (Behringer 3.5).
//
//   auto client = Client::connect(host, {.host = "server", .service = 7}, {}).value();
//   client->set(bytes_of("greeting"), bytes_of("hello"));
//   GetResult result = client->get(bytes_of("greeting"));
//
// Any number of fibers of the client's host may be in operations at the same time; each waits for its
// own round trips while the others go on. Operations on one key are linearizable with those of all
// clients (with Safeguards::hardened()). Operations are lock-free: one that starts over does so because
// another one, or the server, got on.
//
// A broken connection is final: what follows answers `disconnected`, and a new client must connect. The
// server then takes this one's memory back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/client/results.h"
#include "engine/layout/geometry.h"
#include "engine/safeguards.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// Reading ahead (Behringer 4.3.3). Neither a chunk nor a container's start may be longer than one request
// of the device (DeviceAttributes::max_message_bytes).
struct ReadaheadOptions {
  // Entries that one READ of the table brings; at most the table, at least 1.
  std::uint32_t chunk_entries = 32;
  // Bytes that the first READ of a container brings, at least container_header_bytes. A container
  // that is longer takes a second READ.
  std::uint32_t container_bytes = 512;
  // How many containers of a collision chain are read at once, 1 to 8. Adaptive: as many as a
  // successful search is expected to need at the load that this client has seen, up to this number.
  std::uint32_t containers = 8;
  bool adaptive = true;
  // Whether the entries of a short chain are read again along with its containers, in case the key is not
  // among them. It saves a round trip then, and is in vain if the key is found: not worth it where a round
  // trip costs little.
  bool validation = true;
};

struct ClientOptions {
  Safeguards safeguards = Safeguards::hardened();
  ReadaheadOptions readahead{};
  // Operations at the same time; further ones wait.
  std::uint32_t max_operations_in_flight = 16;
  // A new region is asked for when the current one is filled to this percentage, 1 to 100.
  std::uint32_t renewal_percent = 75;
  std::uint64_t connect_timeout_ns = 5'000'000'000;
  // How long an operation waits for the server's process: a SET for memory, any operation for an entry that
  // the server has locked. So long, too, an operation starts over because others change the same entries.
  std::uint64_t server_timeout_ns = 20'000'000'000;
  // Of one attempt of the network to deliver, and how many there are; the connection breaks afterwards.
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;
};

class Session;

class Client {
 public:
  // Waits. Errors: those of Device::connect (connection_refused with the server's reason, unreachable);
  // invalid_argument (an option out of its range, a server of another version, a superblock that
  // makes no sense); out_of_memory.
  static fabric::Result<std::unique_ptr<Client>> connect(fabric::Host& host,
                                                         const fabric::Address& server,
                                                         const ClientOptions& options);
  // Gives the connection up without waiting; operations under way answer `disconnected` or
  // `unknown_outcome`.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // These wait. Keys and values are any bytes; spans need to live until the call returns. A fiber that
  // is cancelled meanwhile leaves its buffers to what is under way: one operation in flight less.
  GetResult get(std::span<const std::byte> key);
  SetResult set(std::span<const std::byte> key, std::span<const std::byte> value);
  DeleteResult remove(std::span<const std::byte> key);

  // Says goodbye, so that the server takes this client's memory back at once. Waits. Operations under
  // way answer as if the connection had broken.
  void disconnect();

  bool is_connected() const;
  const Geometry& geometry() const;
  // Of the server's life that this client is connected to: another one has nothing of its contents.
  std::uint64_t server_incarnation() const;
  // The sum over all operations that have returned.
  const OperationStatistics& statistics() const;

 private:
  explicit Client(std::shared_ptr<Session> session);

  std::shared_ptr<Session> session_;
};

}  // namespace falafel::engine
