#include "tools/benchmarks/calibration/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace falafel::calibration {
namespace {

using fabric::Opcode;

constexpr std::array opcodes{Opcode::read, Opcode::write, Opcode::send, Opcode::compare_and_swap,
                             Opcode::fetch_and_add};

std::string_view name_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::read: return "READ";
    case Opcode::write: return "WRITE";
    case Opcode::send: return "SEND";
    case Opcode::compare_and_swap: return "CAS";
    default: return "FETCH_ADD";
  }
}

// A table with one column for each kind of request, and one row for each value of `row` among the
// loads that belong to it.
template <typename Belongs, typename Cell>
std::string table(const Measurement& measured, std::string_view row_name, std::uint32_t Load::*row,
                  Belongs belongs, Cell cell) {
  std::string text = fmt::format("| {} |", row_name);
  std::string rule = "| --: |";
  for (const Opcode opcode : opcodes) {
    text += fmt::format(" {} |", name_of(opcode));
    rule += " --: |";
  }
  text += '\n' + rule + '\n';
  std::set<std::uint32_t> rows;
  for (const MeasuredLoad& each : measured.loads) {
    if (belongs(each.load)) rows.insert(each.load.*row);
  }
  for (const std::uint32_t value : rows) {
    text += fmt::format("| {} |", value);
    for (const Opcode opcode : opcodes) {
      const auto found = std::ranges::find_if(measured.loads, [&](const MeasuredLoad& each) {
        return belongs(each.load) && each.load.*row == value && each.load.opcode == opcode;
      });
      text += found == measured.loads.end() ? "  |" : fmt::format(" {} |", cell(*found));
    }
    text += '\n';
  }
  return text;
}

std::string thousands_per_second(const MeasuredLoad& measured) {
  return fmt::format("{:.1f}", 1e6 / std::max(measured.cost.interval_ns, 1e-3));
}

std::uint32_t clients_of(const Measurement& measured) {
  std::uint32_t clients = 1;
  for (const MeasuredLoad& each : measured.loads) clients = std::max(clients, each.load.clients);
  return clients;
}

double deviation_percent(double predicted, double measured) {
  return (predicted / std::max(measured, 1e-3) - 1) * 100;
}

}  // namespace

std::string to_text(const Measurement& measured) {
  const std::uint32_t clients = clients_of(measured);
  std::string text = "Latency of one request, in microseconds:\n\n";
  text += table(
      measured, "bytes", &Load::length_bytes, shows_latency,
      [](const MeasuredLoad& each) { return fmt::format("{:.2f}", each.cost.latency_ns / 1e3); });
  text += "\nRequests of 8 bytes in thousands per second, with 16 in flight for each client:\n\n";
  text += table(
      measured, "clients", &Load::clients,
      [](const Load& load) {
        return !shows_latency(load) && load.length_bytes == 8 && !load.same_word;
      },
      thousands_per_second);
  text += fmt::format("\nRequests of {} clients in thousands per second:\n\n", clients);
  text += table(
      measured, "bytes", &Load::length_bytes,
      [&](const Load& load) {
        return !shows_latency(load) && load.clients == clients && !load.same_word;
      },
      thousands_per_second);
  return text;
}

std::string to_text(const std::vector<ShownCost>& costs) {
  std::string text = fmt::format(
      "Costs of the processor in nanoseconds, medians of {} rounds, with the interval that the\n"
      "rounds show:\n\n| value | median | from | to |\n| --- | --: | --: | --: |\n",
      costs.empty() ? 0 : costs.front().ns.values);
  for (const ShownCost& cost : costs) {
    text += fmt::format("| {} | {:.3f} | {:.3f} | {:.3f} |\n", fmt::join(cost.values, " + "),
                        cost.ns.median, cost.ns.low, cost.ns.high);
  }
  return text;
}

std::string compare(const Measurement& measured, const Measurement& predicted) {
  std::string text =
      "| request | bytes | clients | quantity | measured, ns | profile, ns | deviation |\n"
      "| --- | --: | --: | --- | --: | --: | --: |\n";
  for (const MeasuredLoad& each : predicted.loads) {
    const bool is_latency = shows_latency(each.load);
    const auto quantity = is_latency ? &Cost::latency_ns : &Cost::interval_ns;
    const double by_profile_ns = each.cost.*quantity;
    const double measured_ns = measured.cost_of(each.load).*quantity;
    text +=
        fmt::format("| {}{} | {} | {} | {} | {:.1f} | {:.1f} | {:+.1f} % |\n",
                    name_of(each.load.opcode), each.load.same_word ? ", one word" : "",
                    each.load.length_bytes, each.load.clients, is_latency ? "latency" : "interval",
                    measured_ns, by_profile_ns, deviation_percent(by_profile_ns, measured_ns));
  }
  for (const auto& [name, latency] : {std::pair{"absent", &StoreLatency::absent_ns},
                                      std::pair{"present", &StoreLatency::present_ns}}) {
    const double measured_ns = measured.store.*latency;
    const double by_profile_ns = predicted.store.*latency;
    text += fmt::format("| GET, {} key | | 1 | latency | {:.1f} | {:.1f} | {:+.1f} % |\n", name,
                        measured_ns, by_profile_ns, deviation_percent(by_profile_ns, measured_ns));
  }
  return text;
}

}  // namespace falafel::calibration
