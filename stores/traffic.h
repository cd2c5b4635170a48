// The use that an operation makes of the network.
#pragma once

#include <cstdint>

namespace falafel::stores {

struct Traffic {
  std::uint64_t verbs = 0;        // requests posted, receive requests not counted
  std::uint64_t round_trips = 0;  // chains of READs, and messages, waited for
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;  // of READs and messages

  Traffic& operator+=(const Traffic& other) {
    verbs += other.verbs;
    round_trips += other.round_trips;
    bytes_sent += other.bytes_sent;
    bytes_received += other.bytes_received;
    return *this;
  }
};

}  // namespace falafel::stores
