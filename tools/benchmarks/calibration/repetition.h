// Repeats a calibration that noise hides something from.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "tools/benchmarks/calibration/fit.h"

namespace falafel::calibration {

inline constexpr std::uint32_t most_repetitions = 3;

struct Calibrated {
  Measurement measured;  // the medians of all rounds
  FittedProfile fitted;
};

using MeasureRounds = std::function<tl::expected<std::vector<Measurement>, std::string>()>;

// Measures rounds and fits a profile to them. While they do not tell each of its costs, it measures
// further rounds, at most `most_repetitions` times, and fits a profile to all of them together.
// `on_repetition` hears which costs are not told. The profile is usable if untold() is then empty.
tl::expected<Calibrated, std::string> calibrate(
    const MeasureRounds& measure, std::uint32_t clients, const sim::timing::Profile& base,
    const std::function<void(const std::string& untold)>& on_repetition);

// The costs that the rounds do not tell, with their error bars; empty: all are told.
std::string untold(const FittedProfile& fitted);

}  // namespace falafel::calibration
