// The options of a client.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/safeguards.h"
#include "engine/time_bounds.h"

namespace falafel::engine {

class OperationObserver;  // engine/client/operation_observer.h

inline constexpr std::uint32_t max_containers_ahead = 8;

// Readahead (Behringer 4.3.3). A chunk of the table and the first READ of a container must each fit
// into one request of the device (DeviceAttributes::max_message_bytes).
struct ReadaheadOptions {
  // Entries per READ of the table, from 1 to the size of the table.
  std::uint32_t chunk_entries = 32;
  // Bytes that the first READ of a container fetches, at least container_header_bytes. A longer
  // container needs a second READ.
  std::uint32_t container_bytes = 512;
  // How many containers of a collision chain are read at once, 1 to max_containers_ahead. With
  // adaptive readahead, this is the maximum; the client reads as many as a successful search is
  // expected to need at the load it has observed.
  std::uint32_t containers = 8;
  bool adaptive = true;
  // If true, the client rereads the entries of a short chain together with its containers. This
  // saves a round trip if the key is not in the chain and is wasted work if the key is found.
  // Switch it off where round trips are cheap.
  bool validation = true;
};

// The cache of the locations of keys (docs/protocol.md, "The location cache").
struct LocationCacheOptions {
  // For how many keys. A key takes 104 bytes, more if it is longer than 15 bytes. 0: no cache.
  std::uint32_t entries = 0;
  // How long a location is used after it was last confirmed. A tag must not wrap around in that
  // time and three heartbeat time-outs of the server together.
  std::uint64_t trust_ns = 60'000'000'000;
};

struct ClientOptions {
  Safeguards safeguards = Safeguards::hardened();
  // The device of the host by which the client reaches the server. Each client uses one device, and
  // clients of different devices share a store.
  std::size_t device_index = 0;
  ReadaheadOptions readahead{};
  LocationCacheOptions location_cache{};
  // Maximum number of concurrent operations; further ones wait.
  std::uint32_t max_operations_in_flight = 16;
  // The client requests a new region when the current one is filled to this percentage, 1 to 100.
  std::uint32_t renewal_percent = 75;
  std::uint64_t connect_timeout_ns = 5'000'000'000;
  // How long an operation waits for the server process: a SET for memory, any operation for an
  // entry that the server has locked. It also limits how long an operation keeps restarting because
  // others change the same entries.
  std::uint64_t server_timeout_ns = default_server_timeout_ns;
  // The time-out of one delivery attempt of the network, and the number of attempts before the
  // connection breaks.
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;
  // If true, the client learns at once that the server has closed the connection, and not only when
  // its retries have failed (QueuePairOptions::hears_close, with its cost).
  bool hears_server_close = false;
  // Is told of every operation; null: none. Outlives all operations.
  OperationObserver* observer = nullptr;
};

}  // namespace falafel::engine
