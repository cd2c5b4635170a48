// The state of the chunk's parts according to the server's bookkeeping, for checkers and
// monitoring.
#pragma once

#include <cstdint>
#include <string_view>

namespace falafel::engine {

enum class RegionState : std::uint8_t {
  free,
  granted,     // a client writes to it
  released,    // waiting for collection
  collecting,  // being collected
  waiting,     // collected; waiting until clients are quiescent
};

struct RegionInspection {
  RegionState state = RegionState::free;
  std::uint32_t client = 0;  // granted: the owner
  std::uint64_t incarnation = 0;
};

struct MatureSpaceInspection {
  bool active = false;
  bool waiting = false;  // collected; waiting until clients are quiescent
  bool held = true;      // false: it has no memory of the system (ServerOptions::memory_grows)
  std::uint64_t used_bytes = 0;
  std::uint64_t unmeasured_bytes = 0;  // copied there since the last measurement began
};

// The time of a measurement of live data in the mature spaces.
struct MeasurementTime {
  std::uint64_t began_ns = 0;
  std::uint64_t took_ns = 0;
};

constexpr std::string_view to_string(RegionState state) {
  switch (state) {
    case RegionState::free: return "free";
    case RegionState::granted: return "granted";
    case RegionState::released: return "released";
    case RegionState::collecting: return "collecting";
    case RegionState::waiting: return "waiting";
  }
  return "?";
}

}  // namespace falafel::engine
