// What an operation answers, and what it took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace falafel::engine {

enum class Answer : std::uint8_t {
  found,            // GET: the value is in the result
  not_found,        // GET, DELETE: the key is not in the store
  stored,           // SET
  deleted,          // DELETE
  invalid_key,      // the key is empty, or longer than max_key_bytes; nothing was done
  value_too_large,  // SET: the container would be larger than a region, or than one request of this
                    // host's device (DeviceAttributes::max_message_bytes); nothing was done
  table_full,       // SET: no slot left for a new key. Delete keys, and wait for a cleanup
  out_of_memory,    // SET: no memory for the container; delete or overwrite keys. GET, SET, DELETE:
                    // this host has no memory for what had to be read. Nothing was done
  corrupted,  // GET: a container that may be the key's does not verify, although its entry did not
              // change. SET and DELETE of the key repair that
  unknown_outcome,  // SET, DELETE: the connection broke while the change was under way; it has
                    // happened, or will within the server's heartbeat time-out, or never does
  disconnected,     // the connection is broken; this operation has changed nothing
  timed_out,  // for ClientOptions::server_timeout_ns, the server did not answer, or others kept the operation
              // starting over; nothing was changed
};
std::string_view to_string(Answer answer);

struct OperationStatistics {
  std::uint64_t lookups = 0;      // containers whose key was compared
  std::uint64_t verbs = 0;        // requests posted
  std::uint64_t round_trips = 0;  // chains of requests waited for
  std::uint64_t restarts = 0;     // of FIND from the home slot, whatever the cause
  std::uint64_t lost_compare_and_swaps = 0;

  OperationStatistics& operator+=(const OperationStatistics& other);
};

struct GetResult {
  Answer answer = Answer::disconnected;
  std::vector<std::byte> value;  // of the caller from now on
  OperationStatistics statistics;
};

struct SetResult {
  Answer answer = Answer::disconnected;
  OperationStatistics statistics;
};

struct DeleteResult {
  Answer answer = Answer::disconnected;
  OperationStatistics statistics;
};

}  // namespace falafel::engine
