// The results of operations, and their statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace falafel::engine {

enum class Answer : std::uint8_t {
  found,        // GET: the value is in the result
  not_found,    // GET, DELETE: the key is not in the store, or its value has expired
  stored,       // SET, COMPARE-AND-SET
  deleted,      // DELETE
  invalid_key,  // the key is empty or longer than max_key_bytes; nothing was changed
  // SET: the container exceeds the size of a region or of one request of this host's device
  // (DeviceAttributes::max_message_bytes); nothing was changed
  value_too_large,
  table_full,  // SET: no slot for a new key; delete keys and wait for a cleanup
  // SET: no memory for the container; delete or overwrite keys. GET, SET, DELETE: this host has no
  // memory for the data (SetResult::host_lacks_memory). Nothing was changed
  out_of_memory,
  // GET: a container that may have the key does not verify although its entry has not changed. SET
  // and DELETE of the key repair it
  corrupted,
  // SET, DELETE: the connection broke while the change was in flight. The change has happened,
  // happens within the server's heartbeat time-out, or never happens
  unknown_outcome,
  disconnected,  // the connection is broken; this operation changed nothing
  // for ClientOptions::server_timeout_ns, the server did not answer or other clients forced the
  // operation to restart; nothing was changed
  timed_out,
  // SET with a time to live: the store keeps values until they are deleted; nothing was changed
  not_a_cache,
  differs,  // COMPARE-AND-SET: the key does not meet the condition; nothing was changed
};
inline constexpr std::size_t answer_count = 14;
std::string_view to_string(Answer answer);

struct OperationStatistics {
  std::uint64_t lookups = 0;      // containers whose key was compared
  std::uint64_t verbs = 0;        // requests posted
  std::uint64_t bytes = 0;        // of these requests
  std::uint64_t round_trips = 0;  // chains of requests waited for
  // Chains posted. Operations of a batch share them; one of the sharers counts each.
  std::uint64_t doorbells = 0;
  std::uint64_t restarts = 0;  // of FIND from the home slot, for any reason
  std::uint64_t lost_compare_and_swaps = 0;
  std::uint64_t cached_locations = 0;  // operations whose first round trip used a cached location
  std::uint64_t stale_locations = 0;   // operations whose cached location was out of date

  OperationStatistics& operator+=(const OperationStatistics& other);
};

// The bytes of a ValueBuffer that are a value.
struct PlaceInBuffer {
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;
};

struct GetResult {
  Answer answer = Answer::disconnected;
  std::vector<std::byte> value;  // owned by the caller
  // found, by a GET into a buffer: where the value is. None: the buffer is shorter than
  // ValueBuffer::bytes_for() says, and the value is above.
  std::optional<PlaceInBuffer> place;
  // found, in a cache: when the value expires, in nanoseconds since 1970; 0: never;
  // pinned_expiry_ns: never, and it is pinned (engine/layout/pinned.h)
  std::uint64_t expires_ns = 0;
  OperationStatistics statistics;
};

struct SetResult {
  Answer answer = Answer::disconnected;
  bool host_lacks_memory = false;  // out_of_memory: this host has none, not the server
  OperationStatistics statistics;
};

struct DeleteResult {
  Answer answer = Answer::disconnected;
  OperationStatistics statistics;
};

}  // namespace falafel::engine
