// Linearizability: is there an order of all operations that respects real-time precedence and makes
// every answer correct? docs/checkers.md describes the method.
//
// Keys are independent and are judged one by one. An indeterminate operation may be ordered
// anywhere after its call or left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "checkers/linearizability_report.h"

namespace falafel::checkers {

// The data type of each key.
enum class Model : std::uint8_t {
  key_value_register,  // get, set, remove; initially absent
  cas_register,        // get, set, remove, compare_and_swap; initially absent
  append_log,          // get, set, append; a string that is initially empty; never not_found
};

// The checker keeps its working memory between histories, so one checker judges many histories
// faster than many checkers do.
class LinearizabilityChecker {
 public:
  explicit LinearizabilityChecker(Model model, LinearizabilityLimits limits = {});
  LinearizabilityChecker(LinearizabilityChecker&&) noexcept;
  LinearizabilityChecker& operator=(LinearizabilityChecker&&) noexcept;
  ~LinearizabilityChecker();

  // Accepts operations in any order. Asserts that the model supports each operation's kind, that
  // the answer is possible for the kind, and that no operation returns before its call.
  Judgement check(std::span<const Operation> history);

  // The explanation of a violation lists at most the last `most_listed` operations of the prefix.
  LinearizabilityReport report(std::span<const Operation> history,
                               std::size_t most_listed = default_most_listed);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

Judgement check_linearizability(std::span<const Operation> history, Model model,
                                LinearizabilityLimits limits = {});

}  // namespace falafel::checkers
