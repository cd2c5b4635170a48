#include "tools/benchmarks/calibration/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "tools/benchmarks/calibration/simulated.h"

namespace falafel::calibration {
namespace {

using fabric::Opcode;
using sim::timing::Profile;
using Value = std::uint64_t Profile::*;

constexpr double ps_per_ns = 1'000;
constexpr std::uint32_t packet_bytes = 4'096;

std::uint64_t to_ps(double time_ns) {
  return static_cast<std::uint64_t>(std::llround(std::max(0.0, time_ns) * ps_per_ns));
}

// How a load shows a value. With `without`, the difference of two loads shows it.
struct Rule {
  Value value;
  Load load;
  double Cost::*quantity;
  std::optional<Load> without{};
  double divisor = 1;  // bytes or packets between the two loads
  double factor = 1;   // how much the quantity grows with the value
};

Load alone(Opcode opcode, std::uint32_t length_bytes = 8) {
  return {.opcode = opcode, .length_bytes = length_bytes};
}

Load by_all(Opcode opcode, std::uint32_t clients, std::uint32_t length_bytes = 8) {
  return {.opcode = opcode,
          .length_bytes = length_bytes,
          .clients = clients,
          .in_flight = length_bytes == longest_transfer_bytes ? 4 : most_in_flight};
}

Load on_same_word(std::uint32_t clients) {
  Load load = by_all(Opcode::compare_and_swap, clients);
  load.same_word = true;
  return load;
}

// How much longer a READ takes for each byte, within one packet.
double latency_ns_per_byte(const Measurement& measurement) {
  return (measurement.cost_of(alone(Opcode::read, packet_bytes)).latency_ns -
          measurement.cost_of(alone(Opcode::read)).latency_ns) /
         (packet_bytes - 8);
}

// The quantity that the load shows. The time between requests of many clients is at most the part
// of the latency of one request that is not the processor's, and the time for each byte at most
// that of a packet. If it is longer, the device is not the limit, but the processors that the
// clients share.
double target_of(const Load& load, double Cost::*quantity, const Measurement& measurement) {
  const double shown = measurement.cost_of(load).*quantity;
  if (quantity != &Cost::interval_ns) return shown;
  const std::uint32_t bytes = load.length_bytes > packet_bytes ? load.length_bytes : 8;
  const double device_ns = std::max(0.0, measurement.cost_of(alone(load.opcode, bytes)).latency_ns -
                                             least(measurement, &Cost::busy_ns));
  if (load.length_bytes <= packet_bytes) return std::min(shown, device_ns);
  return std::min({shown, device_ns, latency_ns_per_byte(measurement) * load.length_bytes});
}

double quantity_of(const Load& load, double Cost::*quantity, const Measurement& measurement) {
  return measurement.cost_of(load).*quantity;
}

template <typename Quantity>
double difference(const Rule& rule, const Measurement& measurement, Quantity quantity) {
  double shown = quantity(rule.load, rule.quantity, measurement);
  if (rule.without) shown -= quantity(*rule.without, rule.quantity, measurement);
  return shown / rule.divisor;
}

// The bus or the link limits the bandwidth. A READ passes twice through a bus and once through the
// link, so its latency shows which of the two can be the limit.
bool bus_is_limit(const Measurement& measured, std::uint32_t clients) {
  const double limit_ns_per_byte = target_of(by_all(Opcode::read, clients, longest_transfer_bytes),
                                             &Cost::interval_ns, measured) /
                                   longest_transfer_bytes;
  return latency_ns_per_byte(measured) > 2 * limit_ns_per_byte;
}

std::vector<Rule> rules(const Measurement& measured, std::uint32_t clients) {
  constexpr double packet_difference_bytes = packet_bytes - 8;
  static_assert(longest_transfer_bytes % packet_bytes == 0);
  constexpr std::uint64_t packets = longest_transfer_bytes / packet_bytes;
  constexpr auto further_packets = static_cast<double>(packets - 1);
  const bool by_bus = bus_is_limit(measured, clients);
  const Value limit = by_bus ? &Profile::bus_ps_per_byte : &Profile::link_ps_per_byte;
  const Value other = by_bus ? &Profile::link_ps_per_byte : &Profile::bus_ps_per_byte;
  return {
      {&Profile::read_ps, alone(Opcode::read), &Cost::latency_ns},
      {&Profile::write_ps, alone(Opcode::write), &Cost::latency_ns},
      {&Profile::atomic_ps, alone(Opcode::compare_and_swap), &Cost::latency_ns},
      {&Profile::send_ps, alone(Opcode::send), &Cost::latency_ns},
      {other, alone(Opcode::read, packet_bytes), &Cost::latency_ns, alone(Opcode::read),
       packet_difference_bytes, by_bus ? 1.0 : 2.0},
      {&Profile::acknowledge_ps_per_byte, alone(Opcode::write, packet_bytes), &Cost::latency_ns,
       alone(Opcode::write), packet_difference_bytes},
      {&Profile::read_gap_ps, alone(Opcode::read, longest_transfer_bytes), &Cost::latency_ns,
       alone(Opcode::read, packet_bytes), further_packets},
      {limit, by_all(Opcode::read, clients, longest_transfer_bytes), &Cost::interval_ns,
       std::nullopt, longest_transfer_bytes},
      {&Profile::read_interval_ps, by_all(Opcode::read, clients), &Cost::interval_ns},
      {&Profile::read_interval_ps_per_byte, by_all(Opcode::read, clients, 128), &Cost::interval_ns,
       by_all(Opcode::read, clients), 128 - 8},
      {&Profile::write_interval_ps, by_all(Opcode::write, clients), &Cost::interval_ns},
      {&Profile::atomic_interval_ps, by_all(Opcode::compare_and_swap, clients), &Cost::interval_ns},
      {&Profile::word_interval_ps, on_same_word(clients), &Cost::interval_ns},
      {&Profile::send_interval_ps, by_all(Opcode::send, clients), &Cost::interval_ns}};
}

constexpr std::array shares_of_path{&Profile::doorbell_ps, &Profile::requester_ps,
                                    &Profile::wire_ps, &Profile::completion_ps, &Profile::poll_ps};

// The way to the responder and back is the same for all requests; only its sum shows. Each part has
// the share of a WRITE that it has in `base`.
void share_path(Profile& profile, const Measurement& measured, const Profile& base) {
  const double shortest_ns = least(measured, &Cost::latency_ns);
  const auto base_ps = static_cast<double>(base.doorbell_ps + base.requester_ps + 2 * base.wire_ps +
                                           base.completion_ps + base.poll_ps + base.write_ps);
  const double processor_ns = least(measured, &Cost::busy_ns);
  const double path_ps = std::max(0.0, shortest_ns - processor_ns) * ps_per_ns;
  for (const Value share : shares_of_path) {
    profile.*share =
        static_cast<std::uint64_t>(static_cast<double>(base.*share) * path_ps / base_ps);
  }
}

void take_over(Profile& profile, const ProcessorCost& cost) {
  profile.hash_ps = to_ps(cost.hash.fixed_ns);
  profile.hash_ps_per_byte = to_ps(cost.hash.ns_per_byte);
  profile.checksum_ps = to_ps(cost.checksum.fixed_ns);
  profile.checksum_ps_per_byte = to_ps(cost.checksum.ns_per_byte);
  profile.copy_ps = to_ps(cost.copy.fixed_ns);
  profile.copy_ps_per_byte = to_ps(cost.copy.ns_per_byte);
  profile.lock_ps = to_ps(cost.lock_ns);
}

// Enforces the relations between values. If both the bus and the link could be the limit of the
// bandwidth, the search would go in circles.
void keep_rules(Profile& profile, const Measurement& measured, std::uint32_t clients) {
  profile.requester_interval_ps = profile.write_interval_ps;
  if (bus_is_limit(measured, clients)) {
    const std::uint64_t most_ps =
        profile.bus_ps_per_byte * packet_bytes / (packet_bytes + profile.header_bytes);
    profile.link_ps_per_byte = std::min(profile.link_ps_per_byte, most_ps);
  } else {
    profile.bus_ps_per_byte = std::min(profile.bus_ps_per_byte, profile.link_ps_per_byte);
  }
}

// The values with which the search begins. Times between requests start where they limit the rate.
Profile first_guess(const Measurement& measured, std::uint32_t clients, const Profile& base) {
  Profile profile = base;
  profile.has_message_streams = false;  // no load measures them
  profile.post_ps = to_ps(post_ns(measured));
  profile.operation_ps = 0;
  profile.round_trip_ps = 0;
  share_path(profile, measured, base);
  take_over(profile, measured.processor);
  for (const Rule& rule : rules(measured, clients)) {
    if (rule.quantity != &Cost::interval_ns) continue;
    profile.*rule.value = to_ps(difference(rule, measured, target_of));
  }
  profile.placement_ps = 0;
  keep_rules(profile, measured, clients);
  return profile;
}

// Long enough that the beginning and the end of a load do not show. Other programs may have made a
// measured time many times too long; the number of requests bounds what the simulator does then.
std::vector<TimedLoad> timed(const Measurement& measured, std::uint32_t clients) {
  constexpr double latencies = 12;
  constexpr double short_requests = 8'000;
  constexpr double transfers = 1'000;
  std::vector<TimedLoad> loads;
  for (const Load& load : fitted_loads(clients)) {
    const Cost& cost = measured.cost_of(load);
    const double requests = load.length_bytes > packet_bytes ? transfers : short_requests;
    const double duration_ns =
        shows_latency(load) ? latencies * cost.latency_ns : requests * cost.interval_ns;
    loads.push_back({.load = load,
                     .duration_ns = static_cast<std::uint64_t>(duration_ns) + 1'000,
                     .most_requests = static_cast<std::uint64_t>(1.1 * requests / load.clients)});
  }
  return loads;
}

// Changes the value by what the prediction misses. Returns whether that was visible.
bool improve(Profile& profile, const Rule& rule, const Measurement& measured,
             const Measurement& predicted) {
  constexpr double visible_share = 0.001;
  constexpr double visible_ns = 1;
  const double target_ns = difference(rule, measured, target_of);
  const double predicted_ns = difference(rule, predicted, quantity_of);
  const double missing_ns = target_ns - predicted_ns;
  double value_ns = static_cast<double>(profile.*rule.value) / ps_per_ns;
  // A time between requests has no effect below the one that limits the rate.
  const bool is_limit = rule.quantity == &Cost::interval_ns && rule.divisor == 1;
  if (is_limit && missing_ns > 0) value_ns = std::max(value_ns, predicted_ns);
  profile.*rule.value = to_ps(value_ns + missing_ns / rule.factor);
  const double allowed_ns =
      std::max(visible_share * measured.cost_of(rule.load).*rule.quantity, visible_ns);
  return std::abs(missing_ns) * rule.divisor > allowed_ns;
}

void add_work(Profile& profile, const ClientWork& work) {
  const double round_trip_ns = std::max(0.0, work.further_round_trip_ns.median);
  profile.round_trip_ps = to_ps(round_trip_ns);
  profile.operation_ps = to_ps(work.first_round_trip_ns.median - round_trip_ns);
}

}  // namespace

FittedProfile fit_profile(const std::vector<Measurement>& rounds, std::uint32_t clients,
                          const Profile& base) {
  constexpr int most_improvements = 40;
  const Measurement measured = median_of(rounds);
  const std::vector<Rule> all_rules = rules(measured, clients);
  const std::vector<TimedLoad> loads = timed(measured, clients);
  Profile profile = first_guess(measured, clients, base);
  Measurement predicted = measure_simulated(profile, loads);
  for (int improvement = 0; improvement < most_improvements; ++improvement) {
    Profile better = profile;
    bool has_changed = false;
    for (const Rule& rule : all_rules) {
      has_changed = improve(better, rule, measured, predicted) || has_changed;
    }
    keep_rules(better, measured, clients);
    if (!has_changed || better == profile) break;
    profile = better;
    predicted = measure_simulated(profile, loads);
  }
  const ClientWork work = client_work(rounds, predicted.store);
  add_work(profile, work);
  predicted = measure_simulated(profile, loads);
  return {.profile = std::move(profile),
          .predicted = std::move(predicted),
          .costs = shown_costs(rounds, work)};
}

}  // namespace falafel::calibration
