// A checker's judgement of a property: it holds, it is violated, or the checker cannot tell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace falafel::checkers {

enum class Verdict : std::uint8_t {
  holds,
  violated,
  unknown,  // the checker reached a limit first
};
std::string_view to_string(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::unknown;
  std::string property;     // what was judged, for example "linearizability"
  std::string explanation;  // violated: a counterexample in words; unknown: the limit
  // Violated: the table slots, the operations (by call time) and the step of the run that are
  // involved; step 0 stands for the end of the run.
  std::vector<std::uint64_t> slots{};
  std::vector<std::uint64_t> calls{};
  std::uint64_t step = 0;

  friend bool operator==(const Judgement&, const Judgement&) = default;
};

}  // namespace falafel::checkers
