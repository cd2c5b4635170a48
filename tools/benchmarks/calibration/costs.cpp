#include "tools/benchmarks/calibration/costs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace falafel::calibration {
namespace {

using fabric::Opcode;

template <typename Quantity>
Spread spread_over(const std::vector<Measurement>& rounds, Quantity quantity) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const Measurement& round : rounds) values.push_back(quantity(round));
  return spread_of(std::move(values));
}

double read_ns(const Measurement& measured) {
  return measured.cost_of({.opcode = Opcode::read}).latency_ns;
}

}  // namespace

std::string to_text(const ShownCost& cost) {
  return fmt::format("{}: {}", fmt::join(cost.values, " + "), to_text(cost.ns));
}

double least(const Measurement& measured, double Cost::*quantity) {
  double least_ns = measured.cost_of({.opcode = Opcode::read}).*quantity;
  for (const Opcode opcode : {Opcode::write, Opcode::send, Opcode::compare_and_swap}) {
    least_ns = std::min(least_ns, measured.cost_of({.opcode = opcode}).*quantity);
  }
  return least_ns;
}

double post_ns(const Measurement& measured) {
  return least(measured, &Cost::busy_ns) - 2 * measured.processor.lock_ns;
}

ClientWork client_work(const std::vector<Measurement>& rounds, const StoreLatency& predicted) {
  const double typical_read_ns = spread_over(rounds, read_ns).median;
  const auto first_ns = [&](const Measurement& round) {
    const double slowdown_ns = read_ns(round) - typical_read_ns;
    return round.store.absent_ns - predicted.absent_ns - slowdown_ns;
  };
  const auto further_ns = [&](const Measurement& round) {
    const double slowdown_ns = read_ns(round) - typical_read_ns;
    return round.store.present_ns - predicted.present_ns - 2 * slowdown_ns - first_ns(round);
  };
  return {.first_round_trip_ns = spread_over(rounds, first_ns),
          .further_round_trip_ns = spread_over(rounds, further_ns)};
}

std::vector<ShownCost> shown_costs(const std::vector<Measurement>& rounds, const ClientWork& work) {
  const auto per_byte = [&](LinearCost ProcessorCost::*cost) {
    return spread_over(
        rounds, [cost](const Measurement& round) { return (round.processor.*cost).ns_per_byte; });
  };
  const Spread lock_ns =
      spread_over(rounds, [](const Measurement& round) { return round.processor.lock_ns; });
  return {{.values = {"post_ns"}, .ns = spread_over(rounds, post_ns)},
          {.values = {"hash_ns_per_byte"}, .ns = per_byte(&ProcessorCost::hash)},
          {.values = {"checksum_ns_per_byte"}, .ns = per_byte(&ProcessorCost::checksum)},
          {.values = {"copy_ns_per_byte"}, .ns = per_byte(&ProcessorCost::copy)},
          {.values = {"lock_ns"}, .ns = lock_ns},
          {.values = {"operation_ns", "round_trip_ns"}, .ns = work.first_round_trip_ns}};
}

}  // namespace falafel::calibration
