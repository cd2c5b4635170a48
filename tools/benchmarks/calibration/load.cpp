#include "tools/benchmarks/calibration/load.h"

#include <algorithm>

#include "fabric/assert.h"

namespace falafel::calibration {
namespace {

using fabric::Opcode;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

template <typename Value>
double median_over(const std::vector<Measurement>& rounds, Value value) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const Measurement& round : rounds) values.push_back(value(round));
  return median(std::move(values));
}

LinearCost median_cost(const std::vector<Measurement>& rounds, LinearCost ProcessorCost::*work) {
  const auto over = [&](double LinearCost::*value) {
    return median_over(rounds,
                       [&](const Measurement& round) { return round.processor.*work.*value; });
  };
  return {.fixed_ns = over(&LinearCost::fixed_ns), .ns_per_byte = over(&LinearCost::ns_per_byte)};
}

void add(std::vector<Load>& loads, const Load& load) {
  if (std::ranges::find(loads, load) == loads.end()) loads.push_back(load);
}

}  // namespace

const Cost& Measurement::cost_of(const Load& load) const {
  const auto found = std::ranges::find(loads, load, &MeasuredLoad::load);
  FALAFEL_ASSERT(found != loads.end(), "{} of {} bytes with {} clients was not measured",
                 fabric::to_string(load.opcode), load.length_bytes, load.clients);
  return found->cost;
}

std::vector<Load> fitted_loads(std::uint32_t clients) {
  std::vector<Load> loads;
  for (const Opcode opcode :
       {Opcode::read, Opcode::write, Opcode::compare_and_swap, Opcode::send}) {
    loads.push_back({.opcode = opcode});
    loads.push_back({.opcode = opcode, .clients = clients, .in_flight = most_in_flight});
  }
  for (const Opcode opcode : {Opcode::read, Opcode::write}) {
    loads.push_back({.opcode = opcode, .length_bytes = 4'096});
  }
  loads.push_back({.length_bytes = longest_transfer_bytes});
  loads.push_back({.length_bytes = 128, .clients = clients, .in_flight = most_in_flight});
  loads.push_back({.length_bytes = longest_transfer_bytes, .clients = clients, .in_flight = 4});
  loads.push_back({.opcode = Opcode::compare_and_swap,
                   .clients = clients,
                   .in_flight = most_in_flight,
                   .same_word = true});
  return loads;
}

std::vector<Load> reported_loads(std::uint32_t clients) {
  std::vector<Load> loads = fitted_loads(clients);
  for (const Opcode opcode : {Opcode::read, Opcode::write, Opcode::send}) {
    for (const std::uint32_t bytes : {64U, 512U, 4'096U}) {
      add(loads, {.opcode = opcode, .length_bytes = bytes});
    }
  }
  add(loads, {.opcode = Opcode::write, .length_bytes = longest_transfer_bytes});
  add(loads, {.opcode = Opcode::fetch_and_add});
  for (const Opcode opcode : {Opcode::read, Opcode::write, Opcode::compare_and_swap,
                              Opcode::fetch_and_add, Opcode::send}) {
    for (std::uint32_t some = 1; some < clients; some *= 2) {
      add(loads, {.opcode = opcode, .clients = some, .in_flight = most_in_flight});
    }
    add(loads, {.opcode = opcode, .clients = clients, .in_flight = most_in_flight});
  }
  for (const std::uint32_t bytes : {128U, 1'024U}) {
    for (const Opcode opcode : {Opcode::read, Opcode::write}) {
      add(loads, {.opcode = opcode,
                  .length_bytes = bytes,
                  .clients = clients,
                  .in_flight = most_in_flight});
    }
  }
  add(loads, {.opcode = Opcode::write,
              .length_bytes = longest_transfer_bytes,
              .clients = clients,
              .in_flight = 4});
  return loads;
}

Measurement median_of(const std::vector<Measurement>& rounds) {
  FALAFEL_ASSERT(!rounds.empty(), "no round was measured");
  Measurement result;
  for (const MeasuredLoad& measured : rounds.front().loads) {
    const auto over = [&](double Cost::*value) {
      return median_over(
          rounds, [&](const Measurement& round) { return round.cost_of(measured.load).*value; });
    };
    result.loads.push_back({.load = measured.load,
                            .cost = {.latency_ns = over(&Cost::latency_ns),
                                     .interval_ns = over(&Cost::interval_ns),
                                     .busy_ns = over(&Cost::busy_ns)}});
  }
  result.processor = {.hash = median_cost(rounds, &ProcessorCost::hash),
                      .checksum = median_cost(rounds, &ProcessorCost::checksum),
                      .copy = median_cost(rounds, &ProcessorCost::copy),
                      .lock_ns = median_over(rounds, [](const Measurement& round) {
                        return round.processor.lock_ns;
                      })};
  const auto over_store = [&](double StoreLatency::*value) {
    return median_over(rounds, [&](const Measurement& round) { return round.store.*value; });
  };
  result.store = {.absent_ns = over_store(&StoreLatency::absent_ns),
                  .present_ns = over_store(&StoreLatency::present_ns)};
  return result;
}

}  // namespace falafel::calibration
