#include "engine/client/results.h"

namespace falafel::engine {

std::string_view to_string(Answer answer) {
  switch (answer) {
    case Answer::found: return "found";
    case Answer::not_found: return "not found";
    case Answer::stored: return "stored";
    case Answer::deleted: return "deleted";
    case Answer::invalid_key: return "invalid key";
    case Answer::value_too_large: return "value too large";
    case Answer::table_full: return "table full";
    case Answer::out_of_memory: return "out of memory";
    case Answer::corrupted: return "corrupted";
    case Answer::unknown_outcome: return "unknown outcome";
    case Answer::disconnected: return "disconnected";
    case Answer::not_a_cache: return "not a cache";
    case Answer::timed_out: return "timed out";
    case Answer::differs: return "differs";
  }
  return "?";
}

OperationStatistics& OperationStatistics::operator+=(const OperationStatistics& other) {
  lookups += other.lookups;
  verbs += other.verbs;
  bytes += other.bytes;
  round_trips += other.round_trips;
  doorbells += other.doorbells;
  restarts += other.restarts;
  lost_compare_and_swaps += other.lost_compare_and_swaps;
  cached_locations += other.cached_locations;
  stale_locations += other.stale_locations;
  return *this;
}

}  // namespace falafel::engine
