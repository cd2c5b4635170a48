#include "tools/scenarios/store/set_many_calls.h"

#include <utility>

namespace falafel::store_scenario {

void SetManyCalls::begin_call(Begin begin, End end) {
  begin_ = std::move(begin);
  end_ = std::move(end);
  next_index_ = 0;
  running_.clear();
  answers_.clear();
}

std::vector<std::uint64_t> SetManyCalls::end_call() {
  begin_ = nullptr;
  std::vector<std::uint64_t> left;
  left.reserve(running_.size());
  for (const auto& [number, index] : running_) left.push_back(number);
  running_.clear();
  return left;
}

// Other operations of the client are followed elsewhere.
std::uint64_t SetManyCalls::begun() {
  if (!begin_) return 0;
  const std::size_t index = next_index_++;
  const std::uint64_t number = begin_(index);
  running_[number] = index;
  return number;
}

std::optional<std::size_t> SetManyCalls::first_wrong_answer(
    std::span<const engine::SetResult> results) const {
  for (std::size_t index = 0; index < results.size(); ++index) {
    const engine::Answer answer = results[index].answer;
    const auto ended = answers_.find(index);
    if (ended == answers_.end() || ended->second != answer) return index;
    if (answer == engine::Answer::disconnected || answer == engine::Answer::unknown_outcome) break;
  }
  return std::nullopt;
}

// An operation of a cancelled call may still end.
void SetManyCalls::ended(engine::Operation /*operation*/, engine::Answer answer,
                         const engine::OperationStatistics& statistics, std::uint64_t begun) {
  const auto found = running_.find(begun);
  if (found == running_.end()) return;
  answers_[found->second] = answer;
  running_.erase(found);
  end_(begun, answer, statistics);
}

}  // namespace falafel::store_scenario
