// One host's end of connections, for programs that need more than RemoteMemory: several queue pairs
// over one memory, chains and fences, requests in flight, messages. It uses nothing but
// fabric/fabric.h. For example, a client that takes a lock and reads what it protects:
//
//   check::Endpoint endpoint(host);
//   const auto connection = endpoint.connect("server");
//   const check::RemoteRegion table = connection->region("table");
//   while (connection->compare_and_swap(table, lock, 0, 1) != 0) {
//   }
//   const check::Outcome outcome = connection->execute(
//       check::Chain().read(table, value).write(table, lock, 0).fenced());
//
// The server shares the table and accepts everybody who connects:
//
//   check::Endpoint endpoint(host);
//   endpoint.share("table", 64);
//   endpoint.serve();
//
// Two forms: execute() and the calls for one request throw if a request fails; try_execute() and
// wait() return what became of each. Messages of errors name the peer and its region. Mistakes of
// the caller throw a std::logic_error or a std::runtime_error with the fabric's reason.
//
// One fiber at a time may use a connection; several connections may be used at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explorer/check/chain.h"
#include "fabric/fabric.h"

namespace falafel::check {

inline constexpr std::uint16_t usual_service = 1;

inline constexpr fabric::Access every_right{
    .local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true};

// Both sides of a connection need the same transport.
struct ConnectionOptions {
  fabric::Transport transport = fabric::Transport::reliable_connection;
  // Requests that may be in flight, each with a buffer of its own.
  std::uint32_t send_buffers = 16;
  // Messages that may arrive before receive() takes them.
  std::uint32_t receive_buffers = 4;
  std::uint32_t buffer_bytes = 256;
};

class Connection {
 public:
  using Message = std::vector<std::byte>;

  // The memory that the peer shares under this name. Throws a std::invalid_argument that lists the
  // names, if it shares none.
  const RemoteRegion& region(const std::string& name) const;

  // One request each: post, wait, and throw if it failed. An access that the peer does not permit
  // throws a std::out_of_range, everything else Disconnected (world.h); the request may then have
  // taken effect or not.
  std::uint64_t read(const RemoteRegion& region, std::uint64_t offset);
  void write(const RemoteRegion& region, std::uint64_t offset, std::uint64_t word);
  // Returns the previous word, which was replaced if it equals `expected`.
  std::uint64_t compare_and_swap(const RemoteRegion& region, std::uint64_t offset,
                                 std::uint64_t expected, std::uint64_t desired);
  // Returns the previous word.
  std::uint64_t fetch_and_add(const RemoteRegion& region, std::uint64_t offset,
                              std::uint64_t addend);
  void send(std::span<const std::byte> message);

  // The next message of the peer. Waits. Throws Disconnected if the connection breaks.
  Message receive();
  // The same, or nullopt at the deadline.
  std::optional<Message> receive_until(std::uint64_t deadline_ns);

  // All requests of the chain, by one doorbell. As above, the first that failed decides.
  Outcome execute(const Chain& chain);
  Outcome try_execute(const Chain& chain) { return wait(post(chain)); }

  // A chain in flight.
  struct Posted {
    std::uint64_t first = 0;
    std::size_t count = 0;
  };
  // Does not wait. Throws a std::logic_error if more requests would be in flight than
  // ConnectionOptions::send_buffers, or one is longer than its buffer_bytes.
  Posted post(const Chain& chain);
  // Waits until all requests of the chain are complete. Once for each chain, in any order.
  Outcome wait(const Posted& posted);

  const std::string& peer() const { return peer_; }
  // For what is not offered here: fencing, or the numbers of queue pairs.
  fabric::QueuePair& queue_pair() { return *queue_pair_; }

 private:
  friend class Endpoint;
  struct Sent {
    std::uint64_t number = 0;
    Outcome::Part part;
  };

  Connection(fabric::Host& host, fabric::ProtectionDomain& domain, const ConnectionOptions& options,
             std::string peer);
  fabric::QueuePairOptions queue_pair_options(fabric::ProtectionDomain& domain) const;
  void begin(std::unique_ptr<fabric::QueuePair> queue_pair,
             const fabric::PrivateData& regions_of_peer);
  void post_receives(std::uint32_t first, std::uint32_t count);
  std::uint64_t buffer_of(std::uint64_t number) const;
  fabric::WorkRequest prepare(const Chain::Request& request, std::uint64_t number);
  void complete_oldest(const fabric::WorkCompletion& completion);

  ConnectionOptions options_;
  std::string peer_;
  std::vector<RemoteRegion> regions_;
  // Buffers for sends, and behind them those for receives.
  std::shared_ptr<fabric::MemoryBlock> buffers_;
  std::unique_ptr<fabric::MemoryRegion> buffers_region_;
  std::unique_ptr<fabric::CompletionQueue> send_completions_;
  std::unique_ptr<fabric::CompletionQueue> receive_completions_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  std::uint64_t next_number_ = 0;
  std::deque<Sent> in_flight_;
  std::map<std::uint64_t, Outcome::Part> complete_;  // and not yet waited for
};

class Endpoint {
 public:
  // Service: the number under which this host listens, if it accepts connections.
  explicit Endpoint(fabric::Host& host, std::uint16_t service = usual_service);

  // Allocates zeroed memory that peers may access with these rights, and that they find by its
  // name. Share before others connect. Throws a std::logic_error if the names do not fit the data
  // that travels with a connection (about 50 characters in all).
  const std::shared_ptr<fabric::MemoryBlock>& share(const std::string& name,
                                                    std::uint64_t size_bytes,
                                                    fabric::Access access = every_right);
  // The same with memory that exists already, such as that of Host::keep_memory.
  void share(const std::string& name, const std::shared_ptr<fabric::MemoryBlock>& memory,
             fabric::Access access = every_right);
  // To change or revoke rights.
  fabric::MemoryRegion& region(const std::string& name);

  // Waits for the next peer.
  std::unique_ptr<Connection> accept(const ConnectionOptions& options = {});
  // Accepts peers for ever, and keeps their connections.
  void serve(const ConnectionOptions& options = {});
  // Connects, and waits for the server to start. Throws Disconnected if it does not.
  std::unique_ptr<Connection> connect(const std::string& server,
                                      const ConnectionOptions& options = {},
                                      std::uint16_t service = usual_service);

 private:
  struct Shared {
    std::string name;
    std::shared_ptr<fabric::MemoryBlock> memory;
    std::unique_ptr<fabric::MemoryRegion> region;
  };

  const Shared& shared(const std::string& name) const;
  fabric::PrivateData announcement() const;

  fabric::Host& host_;
  std::uint16_t service_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::vector<Shared> shared_;
  std::unique_ptr<fabric::Listener> listener_;
  std::vector<std::unique_ptr<Connection>> accepted_;
};

}  // namespace falafel::check
