// The contents of a page: who did what at which step, and the contents of memory. These are plain
// values; recorder.h collects them and timeline_json.h writes them.
//
// The time axis is the simulator's step count; virtual time accompanies it. Optional values that
// are absent are `none`. Texts are printable, because readable.h has escaped the bytes of keys and
// values.
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
// The end of something that does not end in the run.
inline constexpr std::uint64_t never = ~std::uint64_t{0};

enum class LaneKind : std::uint8_t { client, device, collector, cleanup, membership, server };

// A horizontal line of the picture. Its operations and requests are in rows, so that they do not
// overlap.
struct Lane {
  LaneKind kind{};
  std::string name;
  std::uint32_t operation_rows = 0;
  std::uint32_t request_rows = 0;
};

struct OperationSpan {
  std::uint32_t lane = 0;
  std::uint32_t row = 0;
  std::string kind;  // "get", "set", "delete"
  std::string key;
  std::string value;            // the value written or found
  std::string answer;           // empty: it never returned
  std::uint64_t call_time = 0;  // identifies the operation in checkers' explanations
  std::uint64_t call_step = 0;
  std::uint64_t return_step = never;
};

// A request of a queue pair, from posting to completion.
struct Request {
  std::uint32_t lane = 0;
  std::uint32_t row = 0;
  std::uint32_t operation = none;  // the operation that posted it
  fabric::Opcode opcode{};
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;
  std::uint64_t compare = 0;  // compare-and-swap: the expected word and the new one
  std::uint64_t swap = 0;
  std::uint64_t posted_step = 0;
  std::uint64_t completed_step = never;
  std::uint64_t last_step = 0;  // of its effects and its completion
  fabric::CompletionStatus status{};
};

enum class EffectKind : std::uint8_t {
  read,         // a READ reads words
  written,      // a WRITE places words
  swapped,      // a compare-and-swap succeeds
  refused,      // a compare-and-swap fails because the word differs
  atomic_read,  // an atomic has read its word and will write it later
  delivered,    // a message arrives
  lost,         // the request does not arrive
  denied,       // the device rejects the request
  stored,       // the server's processor stores words
};

struct Effect {
  std::uint32_t request = none;  // none: an access of a processor, on lane `lane`
  std::uint32_t lane = 0;        // the lane that caused it
  EffectKind kind{};
  std::uint64_t step = 0;
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;
  std::string text;                      // as in the story
  std::vector<std::uint32_t> sources{};  // effects that wrote the words it read
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
  std::uint32_t lane = none;  // none: concerns the whole run
  std::uint64_t step = 0;
  std::string text;
};

// A pause of a host or a queue pair.
struct Standstill {
  std::uint32_t lane = 0;
  bool is_host = false;  // false: a queue pair
  std::uint64_t first_step = 0;
  std::uint64_t last_step = never;
};

// A point at which the clock does not advance by step_duration_ns.
struct ClockPoint {
  std::uint64_t step = 0;
  std::uint64_t time_ns = 0;
};

// Memory: each record is valid from its step until the next record of the same place.

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
  std::uint32_t container = none;  // none: the entry is empty or its container is invalid
};

// Before their first record, regions are free and spaces unused. Live bytes belong to containers
// that live entries point to. The unwritten part of a region is free, and the rest is garbage.
struct RegionUse {
  engine::RegionState state{};
  std::uint32_t connection = none;  // granted: the owner, by the server's numbering
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

// Reasons of the failure

struct Violation {
  std::string property;
  std::string explanation;
};

enum class KeyStepRole : std::uint8_t {
  origin,    // the origin of a value or an entry
  context,   // other changes of it
  critical,  // the violation is inevitable from here on
  stale,     // an operation finds it
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
  std::vector<OperationSpan> operations;
  std::vector<Request> requests;
  std::vector<Effect> effects;
  std::vector<Mark> marks;
  std::vector<Standstill> standstills;
  std::vector<ClockPoint> clock;
  std::vector<std::uint32_t> connection_lanes;  // by the server's numbering; none: unknown
  Memory memory;
  std::vector<Violation> violations;
  std::vector<KeyStep> key_steps;  // sorted by step
};

}  // namespace falafel::timeline
