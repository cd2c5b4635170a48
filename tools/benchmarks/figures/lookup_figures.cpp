// Figures 5.3 and 5.4 of the thesis. The thesis' measurements are its predictions, with a
// coefficient of determination of 0.9996 to 0.9999, so these stand for them.
#include <string>

#include "tools/benchmarks/figures/lookup_cost.h"
#include "tools/benchmarks/figures/predictions.h"

namespace falafel::figures {
namespace {

struct Curve {
  std::string name;
  std::vector<LookupCost> LookupCostFigure::*costs;
  double (*predict)(double load);
  double thesis_determination;
};

LookupCostFigure measure(const Effort& effort, const engine::Safeguards& safeguards) {
  return measure_lookup_cost({.safeguards = safeguards,
                              .table_entries = effort.lookup_entries,
                              .key_sets = effort.lookup_key_sets,
                              .samples = effort.lookup_samples,
                              .seed = effort.seed},
                             [](std::uint64_t) {});
}

Series measured_series(const Curve& curve, double LookupCost::*quantity,
                       const LookupCostFigure& measured, const std::string& protocol) {
  Series series{.name = curve.name + ", " + protocol, .protocol = protocol};
  for (const LookupCost& cost : measured.*curve.costs) {
    series.points.push_back({cost.load, cost.*quantity});
  }
  return series;
}

void add_curve(Figure& figure, const Curve& curve, double LookupCost::*quantity,
               const LookupCostFigure& published, const LookupCostFigure& hardened) {
  figure.series.push_back(measured_series(curve, quantity, published, "published"));
  figure.series.push_back(measured_series(curve, quantity, hardened, "hardened"));
  Series thesis{.name = curve.name, .measured = true};
  for (const LookupCost& cost : published.*curve.costs) {
    thesis.points.push_back({cost.load, curve.predict(cost.load)});
  }
  figure.series.push_back(std::move(thesis));
  figure.comparisons.push_back(
      {curve.name + ", R^2", curve.thesis_determination,
       coefficient_of_determination(published.*curve.costs, quantity, curve.predict)});
  const std::size_t middle = 49;  // load 0.5
  figure.comparisons.push_back({curve.name + ", load 0.5", curve.predict(0.5),
                                (published.*curve.costs)[middle].*quantity,
                                (hardened.*curve.costs)[middle].*quantity});
}

}  // namespace

std::vector<Figure> predict_lookup_cost(const Effort& effort) {
  const LookupCostFigure published = measure(effort, engine::Safeguards::published());
  const LookupCostFigure hardened = measure(effort, engine::Safeguards::hardened());
  const auto found = &LookupCostFigure::successful;
  const auto not_found = &LookupCostFigure::unsuccessful;
  Figure lookups{.number = "5.3",
                 .title = "Lookups of a search",
                 .x = {.label = "load"},
                 .y = {.label = "lookups"}};
  add_curve(lookups, {"found", found, predicted_successful_lookups, 0.9999}, &LookupCost::lookups,
            published, hardened);
  add_curve(lookups, {"not found", not_found, predicted_unsuccessful_lookups, 0.9999},
            &LookupCost::lookups, published, hardened);
  Figure verbs{.number = "5.4",
               .title = "RDMA operations of a search",
               .x = {.label = "load"},
               .y = {.label = "RDMA operations"}};
  add_curve(verbs, {"found", found, predicted_successful_verbs, 0.9996}, &LookupCost::verbs,
            published, hardened);
  add_curve(verbs, {"not found", not_found, predicted_unsuccessful_verbs, 0.9998},
            &LookupCost::verbs, published, hardened);
  return {std::move(lookups), std::move(verbs)};
}

}  // namespace falafel::figures
