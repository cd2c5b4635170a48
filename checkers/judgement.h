// What a checker says about a property: it holds, it is violated, or it is not known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  // Violated: what it is about, as far as it is about slots of the table, operations (the times of their
  // calls), or a step of the run; 0: its end.
  std::vector<std::uint64_t> slots{};
  std::vector<std::uint64_t> calls{};
  std::uint64_t step = 0;

  friend bool operator==(const Judgement&, const Judgement&) = default;
};

}  // namespace falafel::checkers
