#include "explorer/program.h"

#include <algorithm>

#include "explorer/small_world.h"

namespace falafel::explorer {

std::string Run::property() const {
  return violations.empty() ? std::string() : violations.front().property;
}

bool Run::violates(std::string_view property) const {
  return std::ranges::any_of(violations, [&](const checkers::Judgement& violation) {
    return violation.property == property;
  });
}

void Run::put_first(std::string_view property) {
  std::stable_partition(
      violations.begin(), violations.end(),
      [&](const checkers::Judgement& violation) { return violation.property == property; });
}

std::vector<SmallWorld> Program::small_worlds() const { return {}; }

std::vector<SmallAblation> Program::small_ablations() const { return {}; }

bool remove_parts(const Simplifier& simplifier, const std::function<std::size_t()>& count,
                  const std::function<bool(std::size_t begin, std::size_t end)>& remove) {
  bool simpler = false;
  for (std::size_t length = std::max<std::size_t>(count() / 2, 1); length > 0; length /= 2) {
    for (std::size_t end = count(); end > 0 && !simplifier.is_time_over();) {
      const std::size_t begin = end - std::min(end, length);
      simpler |= remove(begin, end);
      end = begin;
    }
  }
  return simpler;
}

}  // namespace falafel::explorer
