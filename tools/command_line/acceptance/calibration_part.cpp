#include "tools/command_line/acceptance/calibration_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "tools/benchmarks/calibration/real_time.h"
#include "tools/benchmarks/calibration/sources.h"
#include "tools/command_line/acceptance/child.h"
#include "tools/command_line/acceptance/peer.h"

namespace falafel::acceptance {
namespace {

constexpr std::string_view base_card = "connectx3-qdr";  // for values that no load shows

// The row of a quantity. No rule demands that a prediction is right.
Row compared(std::string name, std::string quantity, double measured_ns, double predicted_ns) {
  const double deviation = predicted_ns / std::max(measured_ns, 1e-3) - 1;
  const double deviation_percent = std::round(deviation * 1'000) / 10 + 0.0;  // without "-0.0"
  return {.name = std::move(name),
          .source = std::move(quantity),
          .expected = fmt::format("{:.1f} ns by the profile", predicted_ns),
          .observed = fmt::format("{:.1f} ns measured ({:+.1f} %)", measured_ns, deviation_percent),
          .verdict = Verdict::counted};
}

// Asks the other side to begin or end its part.
tl::expected<nlohmann::json, std::string> ask(const CalibrationPlan& plan, Task task) {
  return run_in_child(limit_of_child, [&] {
    return run_on_host(plan.fabric, [&](fabric::Host& host) {
      Peer(host, plan.server).ask({.task = task});
      return nlohmann::json();
    });
  });
}

tl::expected<calibration::Calibrated, std::string> measure(const CalibrationPlan& plan,
                                                           const sim::timing::Profile& card) {
  const calibration::RealTimeOptions options{
      .fabric = plan.fabric,
      .clients = plan.clients,
      .rounds = plan.rounds,
      .duration_ns = static_cast<std::uint64_t>(plan.seconds_per_load * 1e9),
      .server = plan.server};
  auto calibrated = calibration::calibrate(
      [&] {
        return calibration::measure_in_real_time(options, calibration::reported_loads(plan.clients),
                                                 [](auto, auto) {});
      },
      plan.clients, card, [](const std::string&) {});
  if (calibrated)
    calibrated->fitted.profile.processors = std::max(1U, std::thread::hardware_concurrency());
  return calibrated;
}

Row write_profile(const CalibrationPlan& plan, calibration::FittedProfile& fitted,
                  const sim::timing::Profile& card) {
  Row row{.name = "profile of the device",
          .source = "docs/performance.md",
          .expected = "every cost is told apart from noise",
          .observed = {}};
  if (const std::string untold = calibration::untold(fitted); !untold.empty()) {
    row.observed = "no profile is written, because noise hides " + untold;
    return row;
  }
  fitted.profile.name = plan.name;
  fitted.profile.title = plan.name;
  std::ofstream file(plan.profile_path);
  file << to_text(fitted.profile, [&](std::string_view value) {
    return calibration::source_of(value,
                                  fmt::format("falafel acceptance --fabric {}", plan.fabric.fabric),
                                  fitted.costs, card);
  });
  file.close();
  row.observed = file ? "written to " + plan.profile_path
                      : fmt::format("'{}' cannot be written", plan.profile_path);
  if (file) row.verdict = Verdict::held;
  return row;
}

}  // namespace

std::vector<Row> rows_of(const calibration::Measurement& measured,
                         const calibration::Measurement& predicted) {
  std::vector<Row> rows;
  for (const calibration::MeasuredLoad& each : predicted.loads) {
    const calibration::Load& load = each.load;
    const bool is_latency = calibration::shows_latency(load);
    const auto quantity =
        is_latency ? &calibration::Cost::latency_ns : &calibration::Cost::interval_ns;
    rows.push_back(
        compared(fmt::format("{} of {} bytes, {} client{}{}", fabric::to_string(load.opcode),
                             load.length_bytes, load.clients, load.clients == 1 ? "" : "s",
                             load.same_word ? ", one word" : ""),
                 is_latency ? "latency" : "time between completions",
                 measured.cost_of(load).*quantity, each.cost.*quantity));
  }
  rows.push_back(compared("GET of an absent key", "latency", measured.store.absent_ns,
                          predicted.store.absent_ns));
  rows.push_back(compared("GET of a present key", "latency", measured.store.present_ns,
                          predicted.store.present_ns));
  return rows;
}

PartReport run_calibration(const CalibrationPlan& plan) {
  PartReport report{.title = "Calibration",
                    .about =
                        "The costs of single requests, measured, and as the simulator "
                        "predicts them with the profile that follows from the measurement."};
  const auto begin = std::chrono::steady_clock::now();
  const auto give_up = [&](const std::string& reason) {
    report.rows.push_back({.name = "measurement",
                           .source = "docs/performance.md",
                           .expected = "all loads are measured",
                           .observed = reason});
  };
  const auto card = sim::timing::find_profile(base_card);
  if (const auto begun = ask(plan, Task::begin_calibration); !begun) {
    give_up(begun.error());
  } else if (auto calibrated = measure(plan, card.value()); !calibrated) {
    give_up(calibrated.error());
  } else {
    report.rows.push_back(write_profile(plan, calibrated->fitted, card.value()));
    const auto rows = rows_of(calibrated->measured, calibrated->fitted.predicted);
    report.rows.insert(report.rows.end(), rows.begin(), rows.end());
  }
  if (const auto ended = ask(plan, Task::end_calibration); !ended) give_up(ended.error());
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace falafel::acceptance
