// The options of a server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/layout/geometry.h"
#include "engine/layout/key_hash.h"
#include "engine/safeguards.h"
#include "engine/time_bounds.h"

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
  // Each client gets regions at most at this rate, so it writes no faster for long; 0: no limit. A
  // region must be due after at most 5 s. GETs and DELETEs are not limited (write_quota.h).
  std::uint64_t client_bytes_per_second = 0;
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

}  // namespace falafel::engine
