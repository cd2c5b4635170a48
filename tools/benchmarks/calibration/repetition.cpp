#include "tools/benchmarks/calibration/repetition.h"

#include <iterator>

namespace falafel::calibration {

tl::expected<Calibrated, std::string> calibrate(
    const MeasureRounds& measure, std::uint32_t clients, const sim::timing::Profile& base,
    const std::function<void(const std::string& untold)>& on_repetition) {
  std::vector<Measurement> rounds;
  for (std::uint32_t repetition = 0;; ++repetition) {
    auto further = measure();
    if (!further) return tl::unexpected(further.error());
    rounds.insert(rounds.end(), std::make_move_iterator(further->begin()),
                  std::make_move_iterator(further->end()));
    FittedProfile fitted = fit_profile(rounds, clients, base);
    const std::string missing = untold(fitted);
    if (missing.empty() || repetition == most_repetitions) {
      return Calibrated{.measured = median_of(rounds), .fitted = std::move(fitted)};
    }
    on_repetition(missing);
  }
}

std::string untold(const FittedProfile& fitted) {
  std::string text;
  for (const ShownCost& cost : fitted.costs) {
    if (is_told(cost)) continue;
    text += (text.empty() ? "" : "; ") + to_text(cost);
  }
  return text;
}

}  // namespace falafel::calibration
