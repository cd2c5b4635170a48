// The server owns the memory, grants regions, collects garbage, cleans up the table, and monitors
// its clients. It does not take part in any GET, SET or DELETE.
//
// It runs as daemon fibers of its host: an acceptor, control (messages), membership (time-outs and
// fencing), region grants, the collector and the cleaner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/layout/inspection.h"
#include "engine/layout/key_hash.h"
#include "engine/layout/tables.h"
#include "engine/safeguards.h"
#include "engine/time_bounds.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// How the collector finds live containers in the memory to be freed.
enum class Collection : std::uint8_t {
  scan_memory,  // scans the memory for containers, and the chains of their keys for entries
  walk_table,   // walks the whole table (Behringer 3.6.1)
};

std::string_view to_string(Collection collection);

struct ServerOptions {
  Geometry geometry{};
  Safeguards safeguards = Safeguards::hardened();
  std::uint16_t service = 7;
  std::uint32_t max_clients = 64;
  // The server gives up on a client that is silent for this long. Clients send heartbeats five
  // times as often. Tags must not wrap around within this time: at 2.0 million SETs per second,
  // 2^30 tags last 536 s (Behringer 4.2.3).
  std::uint64_t heartbeat_timeout_ns = default_heartbeat_timeout_ns;
  // How long the flush of a fenced client may take. After that, its regions stay in quarantine
  // until the flush completes, unless the device drains what is destroyed
  // (DeviceAttributes::destruction_drains).
  std::uint64_t flush_timeout_ns = 5'000'000'000;
  // A cleanup starts when this percentage of the table's entries, 0 to 100, and at least one entry,
  // is deleted. The server checks at the given interval.
  std::uint32_t cleanup_percent = 10;
  std::uint64_t cleanup_interval_ns = 1'000'000'000;
  // The time-out of one delivery attempt of the network, and the number of retries before the
  // connection breaks.
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;
  // Number of the server's compare-and-swaps in flight (Behringer 4.2.4), 1 to 64.
  std::uint32_t pipelined_updates = 16;
  Collection collection = Collection::scan_memory;
  // If true, clients have to return regions when others wait for one.
  bool asks_for_regions_back = true;
  // The server reserves memory for SETs that overwrite a key without using more memory: a
  // 32nd of a semi-space and at least one region, or a 32nd of the blocks and one. A semi-space of
  // less than four regions has no reserve, and neither have less than six blocks.
  bool keeps_overwrite_reserve = true;
  // Before the server denies a request for lack of memory, it measures the live data in the mature
  // space. Measurements are at least this far apart. To use at most about a tenth of the server's
  // time, they are also ten times the last one's duration apart, or a heartbeat time-out if that is
  // shorter.
  std::uint64_t measurement_interval_ns = 10'000'000;
  // If true, the server deletes values where it would otherwise refuse a SET because the memory or
  // the table is full. Only for caches (Geometry::values_expire).
  bool evicts = false;
  // How much of a mature space, and of the entries of the table, it frees at a time, 1 to 100.
  std::uint32_t evicted_percent = 10;
  // Requires blocks (Geometry::has_blocks). The geometry is that of the limit, but the store holds
  // only the memory that it uses (Host::reserve_memory), and gives back that of empty blocks. It
  // holds this much from the start, and always. docs/protocol.md, "Memory that grows".
  bool memory_grows = false;
  std::uint64_t least_held_bytes = 0;
  // The secret of the hash; random if absent. Memory that is not new has its own.
  std::optional<HashKey> hash_key{};
  // The name of the memory that the store is in and that outlives the server's process
  // (fabric::Host::keep_memory). A server that finds a store there continues it. None: the store
  // ends with the process.
  std::optional<std::string> kept_memory{};
};

struct ServerStatistics {
  std::uint64_t clients_connected = 0;  // currently
  std::uint64_t clients_fenced = 0;
  std::uint64_t clients_expelled = 0;  // of those fenced: for a protocol violation
  std::uint64_t flushes_overdue = 0;   // of those fenced: without a flush in time
  std::uint64_t regions_granted = 0;
  std::uint64_t regions_denied = 0;
  std::uint64_t regions_collected = 0;
  std::uint64_t mature_collections = 0;
  std::uint64_t mature_measurements = 0;
  std::uint64_t regions_asked_back = 0;  // requests to return regions
  std::uint64_t containers_copied = 0;
  // containers replaced by a stand-in or dropped by a cleanup
  std::uint64_t containers_unreadable = 0;
  std::uint64_t entries_given_up = 0;  // entries that changed at every attempt to move them
  std::uint64_t scans_given_up = 0;    // scans abandoned in favor of a walk over the table
  std::uint64_t cleanups = 0;          // passes over the table
  std::uint64_t entries_cleaned = 0;   // deleted entries that a cleanup removed
  std::uint64_t entries_repaired = 0;  // entries that no correct client writes
  std::uint64_t updates_lost = 0;      // compare-and-swaps of the server that lost to a client
  std::uint64_t values_expired = 0;    // values that a collection found expired
  std::uint64_t values_evicted = 0;    // values deleted to make room
  std::uint64_t tables_begun = 0;      // growths of the table
  std::uint64_t entries_moved = 0;     // entries that were moved to another table
  std::uint64_t commits_refused = 0;   // by the system, for a memory that grows
  std::uint64_t blocks_released = 0;   // to the system, of a memory that grows
};

struct ClientInspection {
  std::uint32_t number = 0;      // as in RegionInspection
  std::uint64_t silence_ns = 0;  // since its last message
  bool awaited = false;          // collected memory waits until it is quiescent or fenced
  bool leaving = false;          // it is fenced or about to be
  // its flush is overdue, so its regions are unavailable until the flush completes
  bool quarantined = false;
};

// The reason for expelling a client. Clients of this engine never violate the protocol.
enum class Breach : std::uint8_t {
  malformed_message,  // wrong length, unknown kind, or refers to something the client does not have
  too_many_messages,  // exceeds its credits, or repeats a request before the answer
};
std::string_view to_string(Breach breach);

// The server's bookkeeping, for checkers and monitoring.
struct ServerInspection {
  std::vector<RegionInspection> regions;
  std::vector<MatureSpaceInspection> mature_spaces;
  std::vector<ClientInspection> clients;
  std::uint64_t requests_waiting = 0;  // for regions
  ServerStatistics statistics;
  Tables tables{};                      // in use
  std::uint64_t held_bytes = 0;         // of the chunk, as memory of the system
  std::optional<Breach> last_breach{};  // for which the server last expelled a client
  bool idle = false;                    // nothing is left to collect, reclaim or grant
};

// The parts of the memory in the bookkeeping, without a copy. Valid until the server's next step.
struct ServerBooks {
  std::span<const RegionInspection> regions;
  std::span<const MatureSpaceInspection> mature_spaces;
  // The number of denied requests of SETs that wait to store any key, and to overwrite.
  std::uint64_t requests_denied = 0;
  std::uint64_t overwrites_denied = 0;
  // The last measurement of the mature spaces. None if semi-spaces were collected since.
  std::optional<MeasurementTime> measured{};
  std::uint64_t cleanups = 0;  // as in ServerStatistics: cleanups that have begun
};

class ServerState;

class Server {
 public:
  // Waits until the server accepts connections. Errors: invalid_argument (an option out of range,
  // or kept memory that is not that of this store), out_of_memory, address_in_use, unsupported (a
  // device without atomics, or whose queues are too short), and those of Host::keep_memory. After
  // an error, the host and the service can be used again.
  static fabric::Result<std::unique_ptr<Server>> start(fabric::Host& host,
                                                       const ServerOptions& options);
  // Stops the server without waiting.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Runs a cleanup now, regardless of the threshold. Waits.
  void clean_up();

  const Geometry& geometry() const;
  const HashKey& hash_key() const;
  ServerInspection inspect() const;
  ServerBooks books() const;
  // The sum of the books' numbers of denied requests.
  std::uint64_t denials() const;
  // Returns whether the chunk has memory there: a container may be read.
  bool holds(std::uint64_t offset, std::uint64_t length_bytes) const;
  // The chunk, for checkers and other readers.
  fabric::MemoryBlock& memory();

 private:
  explicit Server(std::shared_ptr<ServerState> state);

  std::shared_ptr<ServerState> state_;
};

}  // namespace falafel::engine
