// What a checker says about a property: it holds, it is violated, or it is not known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace falafel::checkers {

enum class Verdict : std::uint8_t {
  holds,
  violated,
  unknown,  // a limit was reached first
};
std::string_view to_string(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::unknown;
  std::string property;     // what was judged: "linearizability"
  std::string explanation;  // violated: a counterexample in words; unknown: which limit was reached

  friend bool operator==(const Judgement&, const Judgement&) = default;
};

}  // namespace falafel::checkers
