// The state of a server, and numbers that it counts, for checkers and monitoring.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/layout/inspection.h"
#include "engine/layout/tables.h"
#include "engine/server/age_histogram.h"

namespace falafel::engine {

struct ServerStatistics {
  std::uint64_t clients_connected = 0;  // currently
  std::uint64_t clients_fenced = 0;
  std::uint64_t clients_expelled = 0;  // of those fenced: for a protocol violation
  std::uint64_t flushes_overdue = 0;   // of those fenced: without a flush in time
  std::uint64_t regions_granted = 0;
  std::uint64_t regions_denied = 0;
  std::uint64_t regions_postponed = 0;  // requests of clients that have reached their quota
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
  std::uint64_t entries_shifted = 0;   // entries that a cleanup moved to an earlier slot
  std::uint64_t entries_repaired = 0;  // entries that no correct client writes
  std::uint64_t updates_lost = 0;      // compare-and-swaps of the server that lost to a client
  std::uint64_t values_expired = 0;    // values that a collection found expired
  std::uint64_t values_evicted = 0;    // values deleted to make room
  AgeHistogram evicted_ages{};         // of those; the safeguard bounded_walks is on
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
  bool expelled = false;          // for a protocol violation
  std::uint64_t unconfirmed = 0;  // messages of it whose receipt no message to it confirms
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
  // As in ServerStatistics.
  std::uint64_t cleanups = 0;
  std::uint64_t regions_granted = 0;
  std::uint64_t regions_asked_back = 0;
};

}  // namespace falafel::engine
