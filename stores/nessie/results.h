// The results of a client's operations, the reasons for which they give up, and their counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stores/answer.h"
#include "stores/nessie/layout.h"

namespace falafel::nessie {

using stores::Answer;

// The reason for which an operation gave up.
enum class GiveUp : std::uint8_t {
  invalid_entry,  // a PUT of the key is pending, or was given up
  lost_swap,      // another operation changed the ITE first
  changed_index,  // the reverse pass found a change
  changed_entry,  // what an ITE refers to is not what it was
  deadline,       // the expiration period has passed
};
inline constexpr std::size_t give_up_count = 5;
std::string_view to_string(GiveUp reason);

struct OperationStatistics {
  std::uint64_t index_reads = 0;
  std::uint64_t swaps = 0;
  std::uint64_t entry_reads = 0;    // by READ
  std::uint64_t local_entries = 0;  // DTEs of the own node
  std::uint64_t cache_hits = 0;
  std::uint64_t filtered = 0;  // ITEs whose filter bits excluded the key
  std::uint64_t marks = 0;     // by WRITE
  std::uint64_t migrations = 0;
  std::uint64_t lost_migrations = 0;   // those that met another change of one of their slots
  std::uint64_t requests = 0;          // to other nodes, of NessieSD and NessieHY
  std::uint64_t local_requests = 0;    // to the own node
  std::uint64_t timeouts = 0;          // requests whose response did not come in time
  std::uint64_t incomplete_looks = 0;  // a part of a response was there, and the rest was not
  std::uint64_t bytes_sent = 0;        // payload
  std::uint64_t bytes_received = 0;
  std::array<std::uint64_t, give_up_count> give_ups{};

  std::uint64_t round_trips() const { return index_reads + swaps + entry_reads + marks + requests; }
};

struct GetResult {
  Answer answer = Answer::busy;  // found, not_found, busy, disconnected, invalid_key
  Bytes value{};
};

}  // namespace falafel::nessie
