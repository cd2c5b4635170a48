// The contents of a page: who did what at which step, and the contents of memory. These are plain
// values; recorder.h collects them and timeline_json.h writes them.
//
// The time axis is the simulator's step count; virtual time accompanies it. Optional values that
// are absent are `none`. Texts are printable, because readable.h has escaped unprintable bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/timeline/program_part.h"
#include "fabric/work_request.h"

namespace falafel::timeline {

inline constexpr std::uint32_t none = ~std::uint32_t{0};
// The end of something that does not end in the run.
inline constexpr std::uint64_t never = ~std::uint64_t{0};

// The kind of the lane that shows memory. There is one. Programs name the kinds of other lanes.
inline constexpr std::string_view memory_lane = "device";
inline constexpr std::string_view host_lane = "host";

// A horizontal line of the picture. Its operations, requests and fibers are in rows, so that they
// do not overlap.
struct Lane {
  std::string kind;
  std::string name;
  std::uint32_t operation_rows = 0;
  std::uint32_t request_rows = 0;
  std::uint32_t fiber_rows = 0;
};

// An operation of the program's user, from call to return.
struct OperationSpan {
  std::uint32_t lane = 0;
  std::uint32_t row = 0;
  std::string kind;          // groups operations: "get", "push"
  std::string key;           // what it operates on; may be empty
  std::string name;          // the call in few words: `set "key 0"`
  std::string text;          // the call: `set "key 0" to "0.1"`
  std::string label;         // the answer in few words: "found"
  std::string answer;        // `found "0.1"`; empty: it never returned
  std::uint64_t number = 0;  // identifies the operation in judgements of checkers
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
  std::uint64_t compare = 0;  // atomics: the expected word, and the new one or the addend
  std::uint64_t swap = 0;
  std::string target;  // the place that it accesses; empty: it accesses no memory
  std::string detail;  // atomics: the words in lines of text
  std::uint64_t posted_step = 0;
  std::uint64_t completed_step = never;
  std::uint64_t last_step = 0;  // of its effects and its completion
  fabric::CompletionStatus status{};
};

enum class EffectKind : std::uint8_t {
  read,         // a READ or a processor reads words
  written,      // a WRITE places words
  swapped,      // an atomic changes its word
  refused,      // a compare-and-swap fails because the word differs
  atomic_read,  // an atomic has read its word and will write it later
  delivered,    // a message arrives
  lost,         // the request does not arrive
  denied,       // the device rejects the request
  stored,       // a processor stores words
};

struct Effect {
  std::uint32_t request = none;  // none: an access of a processor, on lane `lane`
  std::uint32_t lane = 0;        // the lane that caused it
  EffectKind kind{};
  std::uint64_t step = 0;
  std::uint32_t memory = none;  // the block of memory, by number in the run
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
  connection,
  note,  // of the program
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

// A fiber, with the steps in which it ran.
struct FiberRow {
  std::uint32_t lane = 0;
  std::uint32_t row = 0;
  std::string name;
  std::vector<std::uint64_t> steps;
};

// The words of memory that the run accessed. A row shows one word, or several neighbors if there
// are many.
struct WordRow {
  std::uint32_t memory = none;
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;
  std::string name;
};
// The content of a row from a step on: a word, or the state that the program reports.
struct WordChange {
  std::uint64_t step = 0;
  std::uint32_t row = 0;
  std::string text;
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
  std::vector<FiberRow> fibers;
  std::vector<WordRow> words;
  std::vector<WordChange> word_changes;  // sorted by step
  std::vector<Violation> violations;
  std::vector<KeyStep> key_steps;                     // sorted by step
  std::shared_ptr<const ProgramPart> program_part{};  // null: nothing of its own
};

}  // namespace falafel::timeline
