// The workers of a node of NessieSD or NessieHY (5), and the request region through which clients
// reach them.
//
// A worker of the paper is a thread that polls the slots of its clients. Here, a fiber waits at
// each slot, and the fibers of one worker take turns, so that as many requests are carried out at
// once as there are workers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "stores/nessie/data_table.h"
#include "stores/nessie/layout.h"
#include "stores/nessie/locks.h"
#include "stores/nessie/message_slot.h"
#include "stores/nessie/options.h"
#include "stores/nessie/served_table.h"
#include "stores/registered_memory.h"

namespace falafel::nessie {

// The message of a client that connects: its number, and the place where it expects responses.
struct ClientHello {
  std::uint64_t client = 0;  // unique
  std::uint64_t response_offset = 0;
  std::uint32_t response_key = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(ClientHello) == 24);

struct ServiceStatistics {
  std::uint64_t busy = 0;  // requests that are being carried out
  std::uint64_t requests = 0;
  std::uint64_t moves = 0;             // entries that made room for others
  std::uint64_t incomplete_looks = 0;  // a part of a request was there, and the rest was not
  std::uint64_t lock_waits = 0;
};

class Service {
 public:
  // The fibers keep `owner` alive, which has all that the service uses. Errors: out_of_memory.
  static fabric::Result<std::unique_ptr<Service>> create(fabric::Host& host,
                                                         std::weak_ptr<const void> owner,
                                                         fabric::ProtectionDomain& domain,
                                                         std::unique_ptr<ServedTable> table,
                                                         const Options& options);

  // A place for requests in the request region.
  struct Place {
    std::uint32_t slot = 0;
    std::shared_ptr<fabric::MemoryBlock> region;
    std::uint64_t offset = 0;  // of the slot
  };
  std::uint32_t request_key() const { return requests_.region->remote_key(); }

  // The place of a client of another host. If the client was connected before, its old connection
  // is fenced first; waits for that. nullopt: there are too many clients, or the fence takes long.
  std::optional<Place> admit(const ClientHello& client);
  // For the connection of the client that was admitted last.
  fabric::CompletionQueue* completions(const Place& place);
  void attach(const Place& place, std::unique_ptr<fabric::QueuePair> queue_pair);
  // The place of a client of this host, whose responses are stored at that offset of its memory.
  std::optional<Place> admit_local(std::shared_ptr<fabric::MemoryBlock> responses,
                                   std::uint64_t offset);

  // Cancels the fibers, without waiting.
  void stop();
  std::shared_ptr<const ServiceStatistics> statistics() const { return statistics_; }

  // Requests that a client or a node has in flight on one connection.
  static constexpr std::uint32_t most_requests = 2 * MessageWrites::most_writes;

 private:
  // A connection over which responses go. Only one fiber at a time uses it, except to fence it.
  struct Port {
    std::unique_ptr<fabric::CompletionQueue> completions;
    std::unique_ptr<fabric::QueuePair> queue_pair;  // null until the client is attached
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
  };
  // A client, with its slot.
  struct Session {
    ClientHello client{};
    std::shared_ptr<fabric::MemoryBlock> local_responses;  // of a client of this host
    std::shared_ptr<Port> port;                            // of all others
    std::unique_ptr<MessageSlot> requests;
    std::optional<fabric::FiberId> fiber;
  };

  Service(fabric::Host& host, std::weak_ptr<const void> owner, std::unique_ptr<ServedTable> table,
          const Options& options);
  fabric::Result<void> open(fabric::ProtectionDomain& domain);

  std::optional<std::uint32_t> session_of(const ClientHello& client);
  Place place_of(std::uint32_t slot) const;
  bool fence(Port& port);
  void wait_for_completions(Port& port, std::uint64_t deadline_ns);
  void spawn(std::uint32_t slot);

  void serve(std::uint32_t slot);
  Message carry_out(const Message& request);
  void respond(std::uint32_t slot, const Message& response);

  fabric::Host& host_;
  std::weak_ptr<const void> owner_;
  const Options options_;
  MessageLayout layout_;
  std::unique_ptr<ServedTable> table_;
  stores::RegisteredMemory requests_;
  stores::RegisteredMemory responses_;  // a buffer for each slot
  Locks workers_;
  std::vector<std::unique_ptr<Session>> sessions_;  // by slot
  std::shared_ptr<ServiceStatistics> statistics_;
};

}  // namespace falafel::nessie
