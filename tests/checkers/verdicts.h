// Helpers that judge histories written down in tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "checkers/linearizability.h"
#include "tests/checkers/operations.h"

namespace falafel::checkers_test {

using Operations = std::vector<checkers::Operation>;

// Judges the history in both directions, because the order of recording must not matter.
inline checkers::Verdict judge(checkers::Model model, Operations history) {
  const checkers::Judgement judgement = checkers::check_linearizability(history, model);
  EXPECT_EQ(judgement.property, "linearizability");
  std::ranges::reverse(history);
  EXPECT_EQ(checkers::check_linearizability(history, model).verdict, judgement.verdict);
  return judgement.verdict;
}

inline std::string model_name(checkers::Model model) {
  switch (model) {
    case checkers::Model::key_value_register: return "key_value_register";
    case checkers::Model::cas_register: return "cas_register";
    case checkers::Model::append_log: return "append_log";
  }
  return "none";
}

inline constexpr auto holds = checkers::Verdict::holds;
inline constexpr auto violated = checkers::Verdict::violated;

}  // namespace falafel::checkers_test
