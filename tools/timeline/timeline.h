// What a page shows of a run: who did what at which step, and what was in memory then. Values only;
// recorder.h collects them, timeline_json.h writes them down.
//
// The time axis is the simulator's count of steps; the virtual time stands beside it. What is optional and
// not there is `none`. Texts are readable as they are: bytes of keys and values were made so by readable.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/layout/inspection.h"
#include "fabric/work_request.h"

namespace falafel::timeline {

inline constexpr std::uint32_t none = ~std::uint32_t{0};
// The end of what has none in the run.
inline constexpr std::uint64_t never = ~std::uint64_t{0};

enum class LaneKind : std::uint8_t { client, device, collector, cleanup, membership, server };

// A line of the picture. Operations and requests lie in rows of it, so that none covers another.
struct Lane {
  LaneKind kind{};
  std::string name;
  std::uint32_t operation_rows = 0;
  std::uint32_t request_rows = 0;
};

struct Operation {
  std::uint32_t lane = 0;
  std::uint32_t row = 0;
  std::string kind;  // "get", "set", "delete"
  std::string key;
  std::string value;            // what is written, or was found
  std::string answer;           // empty: it never returned
  std::uint64_t call_time = 0;  // by which checkers name it
  std::uint64_t call_step = 0;
  std::uint64_t return_step = never;
};

// A request of a queue pair, from posting to completion.
struct Request {
  std::uint32_t lane = 0;
  std::uint32_t row = 0;
  std::uint32_t operation = none;  // that posted it
  fabric::Opcode opcode{};
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;
  std::uint64_t compare = 0;  // of a compare-and-swap: the word expected, and the new one
  std::uint64_t swap = 0;
  std::uint64_t posted_step = 0;
  std::uint64_t completed_step = never;
  std::uint64_t last_step = 0;  // of its effects and its completion
  fabric::CompletionStatus status{};
};

enum class EffectKind : std::uint8_t {
  read,         // words of a READ are taken
  written,      // words of a WRITE are placed
  swapped,      // a compare-and-swap that succeeds
  refused,      // one that does not: the word was another one
  atomic_read,  // an atomic has read its word, and will write it later
  delivered,    // a message
  lost,         // nothing of the request arrives
  denied,       // the device does not let it in
  stored,       // by the server's processor
};

struct Effect {
  std::uint32_t request = none;  // none: of a processor, on lane `lane`
  std::uint32_t lane = 0;        // who caused it
  EffectKind kind{};
  std::uint64_t step = 0;
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;
  std::string text;                      // as the story tells it
  std::vector<std::uint32_t> sources{};  // effects that wrote what it read
};

enum class MarkKind : std::uint8_t {
  fault,
  started,
  crashed,
  fence,
  queue_pair_error,
  closed,
  connection
};
struct Mark {
  MarkKind kind{};
  std::uint32_t lane = none;  // none: of the run as a whole
  std::uint64_t step = 0;
  std::string text;
};

// Somebody stands still.
struct Standstill {
  std::uint32_t lane = 0;
  bool is_host = false;  // or a queue pair
  std::uint64_t first_step = 0;
  std::uint64_t last_step = never;
};

// The clock, where it does not go on by step_duration_ns.
struct ClockPoint {
  std::uint64_t step = 0;
  std::uint64_t time_ns = 0;
};

// -----------------------------------------------------------------------------------------------------
// Memory: each record stands from its step on, until the next one of its place.

// A container as it could be read through an entry.
struct Container {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::string key;
  std::string value;
};

struct SlotChange {
  std::uint64_t step = 0;
  std::uint64_t slot = 0;
  std::uint64_t word = 0;
  std::uint32_t container = none;  // none: the entry is empty, or nothing there verifies
};

// Before their first record, regions are free and spaces unused. Live bytes are those of containers that
// live entries point to; a part of a region that was not written is free, the rest is garbage.
struct RegionUse {
  engine::RegionState state{};
  std::uint32_t connection = none;  // granted: to whom, by the server's count
  std::uint64_t written_bytes = 0;
  std::uint64_t live_bytes = 0;

  friend bool operator==(const RegionUse&, const RegionUse&) = default;
};
struct RegionChange {
  std::uint64_t step = 0;
  std::uint32_t region = 0;
  RegionUse use{};
};

struct SpaceUse {
  bool active = false;
  bool waiting = false;
  std::uint64_t used_bytes = 0;
  std::uint64_t live_bytes = 0;

  friend bool operator==(const SpaceUse&, const SpaceUse&) = default;
};
struct SpaceChange {
  std::uint64_t step = 0;
  std::uint32_t space = 0;
  SpaceUse use{};
};

struct Memory {
  std::vector<Container> containers;
  std::vector<SlotChange> slots;
  std::vector<RegionChange> regions;
  std::vector<SpaceChange> spaces;
};

// -----------------------------------------------------------------------------------------------------
// Why it failed

struct Violation {
  std::string property;
  std::string explanation;
};

enum class KeyStepRole : std::uint8_t {
  origin,    // where a value or an entry came from
  context,   // what else happened to it
  critical,  // from here on it could not be avoided
  stale,     // it is met
  violation,
};
struct KeyStep {
  std::uint64_t step = 0;
  KeyStepRole role{};
  std::uint32_t lane = none;
  std::uint32_t operation = none;
  std::uint32_t effect = none;
  std::string text;
};

struct Timeline {
  std::string title;
  std::string description;
  engine::Geometry geometry{};
  std::uint64_t steps = 0;
  std::uint64_t step_duration_ns = 0;
  std::uint64_t trace_hash = 0;
  std::vector<Lane> lanes;
  std::vector<Operation> operations;
  std::vector<Request> requests;
  std::vector<Effect> effects;
  std::vector<Mark> marks;
  std::vector<Standstill> standstills;
  std::vector<ClockPoint> clock;
  std::vector<std::uint32_t> connection_lanes;  // by the server's count; none: not known
  Memory memory;
  std::vector<Violation> violations;
  std::vector<KeyStep> key_steps;  // in the order of steps
};

}  // namespace falafel::timeline
