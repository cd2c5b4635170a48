// Follows the SETs of the calls of set_many() of one client. Each SET reports when it begins and
// when it ends; only one call runs at a time, and its SETs begin in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/client/operation_observer.h"
#include "engine/client/results.h"

namespace falafel::store_scenario {

class SetManyCalls final : public engine::OperationObserver {
 public:
  // Begins the SET with that index of the call; returns its number, which is not 0.
  using Begin = std::function<std::uint64_t(std::size_t index)>;
  // The SET with that number has ended.
  using End = std::function<void(std::uint64_t number, engine::Answer answer,
                                 const engine::OperationStatistics& statistics)>;

  // Begins a call; the functions are valid until end_call().
  void begin_call(Begin begin, End end);
  // Returns the numbers of the SETs that have begun and not ended, whose fibers were cancelled.
  std::vector<std::uint64_t> end_call();
  // The answers of the SETs that have ended, by index.
  const std::map<std::size_t, engine::Answer>& answers() const { return answers_; }
  // The index of the first SET for which the call returned another answer than the SET had; nullopt
  // if there is none. SETs after one that found the connection broken may not have begun.
  std::optional<std::size_t> first_wrong_answer(std::span<const engine::SetResult> results) const;

  std::uint64_t begun() override;
  void ended(engine::Operation operation, engine::Answer answer,
             const engine::OperationStatistics& statistics, std::uint64_t begun) override;

 private:
  Begin begin_;  // none: no call runs
  End end_;
  std::size_t next_index_ = 0;
  std::map<std::uint64_t, std::size_t> running_;  // index of each, by number
  std::map<std::size_t, engine::Answer> answers_;
};

}  // namespace falafel::store_scenario
