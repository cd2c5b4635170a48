// The server: it owns the memory and hands out regions, collects, cleans up and watches over its
// clients. It is on no operation's path.
//
// It runs as daemon fibers of its host: an acceptor, control (messages), membership (time-outs and
// fencing), grants of regions, the collector and the cleaner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/layout/inspection.h"
#include "engine/layout/key_hash.h"
#include "engine/safeguards.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// How the collector finds what lives in the memory that it is to free.
enum class Collection : std::uint8_t {
  scan_memory,  // it looks there for containers, and for their entries in the chains of their keys
  walk_table,   // it walks the whole table (Behringer 3.6.1)
};

std::string_view to_string(Collection collection);

struct ServerOptions {
  Geometry geometry{};
  Safeguards safeguards = Safeguards::hardened();
  std::uint16_t service = 7;
  std::uint32_t max_clients = 64;
  // A client that is silent for so long is given up. Clients send heartbeats five times as often. Tags
  // must not wrap within it: at 2.0 million SETs per second 2^30 tags last 536 s (Behringer 4.2.3).
  std::uint64_t heartbeat_timeout_ns = 10'000'000'000;
  // How long the flush of a fenced client may take. Afterwards its regions stay in quarantine until it comes,
  // unless the device drains what is destroyed (DeviceAttributes::destruction_drains).
  std::uint64_t flush_timeout_ns = 5'000'000'000;
  // A cleanup starts when so many of the table's entries are deleted, in percent, 0 to 100 (and one at
  // least), and is due this often.
  std::uint32_t cleanup_percent = 10;
  std::uint64_t cleanup_interval_ns = 1'000'000'000;
  // Of one attempt of the network to deliver, and how many more there are; the connection breaks
  // afterwards.
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;
  // Compare-and-swaps of the server under way at once (Behringer 4.2.4), 1 to 64.
  std::uint32_t pipelined_updates = 16;
  Collection collection = Collection::scan_memory;
  // Whether a client that holds regions has to give them back when others wait for one.
  bool asks_for_regions_back = true;
  // Whether one region's worth of memory is kept for SETs that overwrite a key and take no more memory than
  // before; none is if a mature space has less than four regions.
  bool keeps_overwrite_reserve = true;
  // Before a request is refused for lack of memory, the server measures what lives in the mature space: not
  // more often than this, and in no more than about a tenth of its time if that takes no longer than a
  // heartbeat time-out.
  std::uint64_t measurement_interval_ns = 10'000'000;
  // The secret of the hash; drawn at random if absent.
  std::optional<HashKey> hash_key{};
};

struct ServerStatistics {
  std::uint64_t clients_connected = 0;  // now
  std::uint64_t clients_fenced = 0;
  std::uint64_t clients_expelled = 0;  // of those fenced, for what no client does
  std::uint64_t flushes_overdue = 0;   // of those fenced, that were not flushed in time
  std::uint64_t regions_granted = 0;
  std::uint64_t regions_denied = 0;
  std::uint64_t regions_collected = 0;
  std::uint64_t mature_collections = 0;
  std::uint64_t mature_measurements = 0;
  std::uint64_t regions_asked_back = 0;  // questions to clients
  std::uint64_t containers_copied = 0;
  std::uint64_t containers_unreadable = 0;  // replaced by a stand-in, or dropped by a cleanup
  std::uint64_t entries_given_up = 0;       // that changed each time the collector was to move them
  std::uint64_t scans_given_up = 0;         // for a walk over the table
  std::uint64_t cleanups = 0;               // walks over the table
  std::uint64_t entries_cleaned = 0;        // deleted entries that a cleanup removed
  std::uint64_t entries_repaired = 0;       // that no honest party writes
  std::uint64_t updates_lost = 0;  // compare-and-swaps of the server that a client forestalled
};

struct ClientInspection {
  std::uint32_t number = 0;      // as RegionInspection has it
  std::uint64_t silence_ns = 0;  // since its last message
  bool awaited = false;          // collected memory waits until it is quiescent, or fenced
  bool leaving = false;          // it is fenced, or about to be
  bool quarantined = false;      // its flush is overdue: its regions stay out until that comes
};

// What a client was expelled for. No client of this engine does any of it.
enum class Breach : std::uint8_t {
  malformed_message,  // of the wrong length, of no known kind, or about what it does not have
  too_many_messages,  // more than it may have under way, or a request before it was answered
};
std::string_view to_string(Breach breach);

// The server's own books, for checkers and monitoring.
struct ServerInspection {
  std::vector<RegionInspection> regions;
  std::vector<MatureSpaceInspection> mature_spaces;
  std::vector<ClientInspection> clients;
  std::uint64_t requests_waiting = 0;  // for a region
  ServerStatistics statistics;
  std::optional<Breach> last_breach{};  // for which a client was expelled
  bool idle = false;                    // nothing is left to be collected, reclaimed or granted
};

// The parts of the memory in these books, without a copy: valid until the server's next step.
struct ServerBooks {
  std::span<const RegionInspection> regions;
  std::span<const MatureSpaceInspection> mature_spaces;
};

class ServerState;

class Server {
 public:
  // Waits until it serves. Errors: invalid_argument (an option out of its range), out_of_memory,
  // address_in_use, unsupported (a device without atomics). After an error, nothing is left of it.
  static fabric::Result<std::unique_ptr<Server>> start(fabric::Host& host,
                                                       const ServerOptions& options);
  // Stops serving without waiting.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Runs a cleanup now, whatever the threshold. Waits.
  void clean_up();

  const Geometry& geometry() const;
  const HashKey& hash_key() const;
  ServerInspection inspect() const;
  ServerBooks books() const;
  // The chunk, for readers such as checkers.
  fabric::MemoryBlock& memory();

 private:
  explicit Server(std::shared_ptr<ServerState> state);

  std::shared_ptr<ServerState> state_;
};

}  // namespace falafel::engine
