// The members of a call that do not depend on the specification of its object
// (specification_history.h).
#pragma once

#include <cstdint>
#include <string>

namespace falafel::checkers {

struct CallOutline {
  std::uint32_t client = 0;
  bool has_answer = false;
  bool is_refused = false;
  std::uint64_t call_time = 0;
  std::uint64_t return_time = 0;  // ignored without an answer
};

// "client 3: push 7 (call 10, return 15)". `text` describes the operation and its answer.
std::string describe(const CallOutline& call, const std::string& text);

}  // namespace falafel::checkers
