// Linearizability: is there an order of all operations, which respects those that came before others
// in time, in which each answer is right? The method: docs/checkers.md.
//
// Keys are independent of each other and are judged one by one. An indeterminate operation stands
// anywhere after its call, or nowhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "checkers/history.h"
#include "checkers/judgement.h"

namespace falafel::checkers {

// What each key is.
enum class Model : std::uint8_t {
  key_value_register,  // get, set, remove; absent at first
  cas_register,        // get, set, remove, compare_and_swap; absent at first
  append_log,          // get, set, append of a string that is empty at first; never not_found
};

// A checker that reaches one of these answers "unknown".
struct LinearizabilityLimits {
  std::uint64_t steps = 20'000'000;            // attempts to order one more operation; all keys
  std::uint64_t memory_bytes = 512ULL << 20U;  // for remembering what was tried; one key
};

// A judgement with its parts, for programs. Operations are positions in the history.
struct LinearizabilityReport {
  Judgement judgement;
  std::string key;  // violated, unknown: the key it is about
  // Violated: a longest order that can be right, and the operations that cannot come next: first the
  // one that returns first, then the others that were under way when it did.
  std::vector<std::size_t> longest_prefix;
  std::vector<std::size_t> unfitting;
  std::uint64_t steps = 0;
};

// Keeps its working memory from history to history: many are judged faster by one checker.
class LinearizabilityChecker {
 public:
  static constexpr std::size_t default_most_listed = 20;

  explicit LinearizabilityChecker(Model model, LinearizabilityLimits limits = {});
  LinearizabilityChecker(LinearizabilityChecker&&) noexcept;
  LinearizabilityChecker& operator=(LinearizabilityChecker&&) noexcept;
  ~LinearizabilityChecker();

  // Operations in any order. Each is of a kind that the model has, with an answer that it can have,
  // and returns no earlier than it is called (asserted).
  Judgement check(std::span<const Operation> history);

  // The explanation of a violation lists the prefix's last operations, so many of them.
  LinearizabilityReport report(std::span<const Operation> history,
                               std::size_t most_listed = default_most_listed);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

Judgement check_linearizability(std::span<const Operation> history, Model model,
                                LinearizabilityLimits limits = {});

}  // namespace falafel::checkers
