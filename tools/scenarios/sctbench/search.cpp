#include "tools/scenarios/sctbench/search.h"

#include <algorithm>

#include "explorer/failing_run.h"

namespace falafel::sctbench {
namespace {

constexpr std::uint64_t endless = ~std::uint64_t{0};

std::optional<std::uint64_t> unless_endless(std::uint64_t schedules) {
  return schedules == endless ? std::nullopt : std::optional(schedules);
}

}  // namespace

std::optional<std::uint64_t> schedules_to_failure(const explorer::Program& program,
                                                  std::uint64_t first_seed, std::uint64_t limit) {
  const auto runner = program.create_runner();
  for (std::uint64_t number = 0; number < limit; ++number) {
    const std::uint64_t seed = first_seed + number;
    const auto scenario = program.draw(seed);
    const auto strategy = explorer::make_seeded_strategy(*scenario, seed, runner.get());
    if (!runner->run(*scenario, *strategy).violations.empty()) return number + 1;
  }
  return std::nullopt;
}

void Searches::add(std::optional<std::uint64_t> schedules) {
  const std::uint64_t value = schedules.value_or(endless);
  sorted_.insert(std::ranges::upper_bound(sorted_, value), value);
}

std::optional<std::uint64_t> Searches::median() const {
  return unless_endless(sorted_[(sorted_.size() - 1) / 2]);
}

std::optional<std::uint64_t> Searches::worst() const { return unless_endless(sorted_.back()); }

std::uint64_t Searches::successes() const {
  return static_cast<std::uint64_t>(std::ranges::lower_bound(sorted_, endless) - sorted_.begin());
}

}  // namespace falafel::sctbench
