#include "explorer/check/usual_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "explorer/child_text.h"

namespace falafel::check {
namespace {

constexpr std::uint64_t measured_seeds = 5;
// The length that is assumed if no run ends.
constexpr std::uint64_t steps_of_endless_programs = 400;
constexpr std::uint64_t least_steps = 20;

std::vector<std::uint64_t> measure_in_child(const MeasureSeed& measure) {
  constexpr double measuring_seconds = 20;
  const std::string text = explorer::text_of_child(
      measuring_seconds, explorer::StandardError::discarded, [&](const explorer::WriteText& write) {
        for (std::uint64_t seed = 1; seed <= measured_seeds; ++seed) {
          if (const auto steps = measure(seed)) write(fmt::format("{}\n", *steps));
        }
      });
  std::vector<std::uint64_t> all;
  std::istringstream lines(text);
  for (std::uint64_t steps = 0; lines >> steps;) all.push_back(steps);
  return all;
}

std::uint64_t median_of(std::vector<std::uint64_t> all) {
  if (all.empty()) return steps_of_endless_programs;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return std::max(*middle, least_steps);
}

}  // namespace

std::uint64_t measure_usual_steps(const MeasureSeed& measure) {
  return median_of(measure_in_child(measure));
}

}  // namespace falafel::check
