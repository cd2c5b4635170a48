// The limits and the result of a linearizability checker: of the store's models
// (linearizability.h) and of any sequential specification (specification_linearizability.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checkers/judgement.h"
#include "checkers/process_memory.h"

namespace falafel::checkers {

// A checker that reaches one of these limits returns "unknown".
struct LinearizabilityLimits {
  std::uint64_t steps = 20'000'000;  // attempts to order one more operation, over all keys
  // Without `process_memory`: an estimate of the memory for remembering visited configurations, per
  // key, which leaves out what the states of a specification allocate. With it: the resident memory
  // of the whole process.
  std::uint64_t memory_bytes = 512ULL << 20U;
  ProcessMemory* process_memory = nullptr;  // must outlive the checker
};

// A judgement in machine-readable parts. Operations are identified by their positions in the
// history.
struct LinearizabilityReport {
  Judgement judgement;
  std::string key;  // violated or unknown: the key in question
  // Violated: a longest correct order, and the operations that cannot come next. The operation that
  // returns first is listed first, followed by the others that were pending when it returned.
  std::vector<std::size_t> longest_prefix;
  std::vector<std::size_t> unfitting;
  std::uint64_t steps = 0;
  // The operations with an answer that the checker judged. If there are none, the verdict `holds`
  // says nothing about the object.
  std::size_t judged = 0;
};

// The last operations of the longest order that an explanation lists unless told otherwise.
inline constexpr std::size_t default_most_listed = 20;

}  // namespace falafel::checkers
