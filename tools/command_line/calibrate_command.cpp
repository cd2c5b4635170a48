// falafel calibrate: measures a device, and writes a profile with which the simulator predicts it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/calibration/fit.h"
#include "tools/benchmarks/calibration/real_time.h"
#include "tools/benchmarks/calibration/repetition.h"
#include "tools/benchmarks/calibration/report.h"
#include "tools/benchmarks/calibration/simulated.h"
#include "tools/benchmarks/calibration/sources.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/store_options.h"

namespace falafel::command_line {
namespace {

using calibration::Calibrated;
using calibration::FittedProfile;
using calibration::Measurement;

constexpr int calibrate_failed = 1;
constexpr int calibrate_wrong_usage = 2;
constexpr int calibrate_cannot_tell = 3;

struct CalibrateOptions {
  calibration::RealTimeOptions real_time;
  std::string fabric = "shm";
  std::string card = "connectx3-qdr";
  double seconds = 0.1;  // for each load
  std::string name;
  std::string title;
  std::string output;
  bool serve = false;
};

void print_loads_done(std::uint64_t done, std::uint64_t all) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\rload {} of {}{}", done, all, done == all ? "\n" : "");
}

// In the simulator, each load lasts as long as some thousands of requests take.
Measurement measure_card(const sim::timing::Profile& profile, std::uint32_t clients) {
  std::vector<calibration::TimedLoad> loads;
  for (const calibration::Load& load : calibration::reported_loads(clients)) {
    const std::uint64_t duration_ns = load.length_bytes > 4'096 ? 20'000'000 : 2'000'000;
    loads.push_back({.load = load, .duration_ns = duration_ns});
  }
  return calibration::measure_simulated(profile, loads);
}

// The simulator repeats itself exactly, so further rounds would show the same.
Calibrated calibrate_card(const sim::timing::Profile& card, std::uint32_t clients) {
  Measurement measured = measure_card(card, clients);
  FittedProfile fitted = calibration::fit_profile({measured}, clients, card);
  return {.measured = std::move(measured), .fitted = std::move(fitted)};
}

tl::expected<Calibrated, std::string> calibrate_device(const CalibrateOptions& options,
                                                       const sim::timing::Profile& card) {
  const std::uint32_t clients = options.real_time.clients;
  const auto measure = [&] {
    return calibration::measure_in_real_time(
        options.real_time, calibration::reported_loads(clients), print_loads_done);
  };
  return calibration::calibrate(measure, clients, card, [](const std::string& untold) {
    fmt::print(stderr, "measuring again, because the rounds do not tell {}\n", untold);
  });
}

int refuse_calibration(int status, std::string_view message) {
  fmt::print(stderr, "falafel calibrate: {}\n", message);
  return status;
}

int write_calibration(const CalibrateOptions& options, const std::string& text) {
  const std::string path = options.output.empty() ? options.name + ".json" : options.output;
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file)
    return refuse_calibration(calibrate_failed,
                              fmt::format("cannot write '{}'; check --output", path));
  fmt::print("\nProfile: {}\n", path);
  return 0;
}

// A profile in which a cost is zero because noise hides it would predict too much.
int report_calibration(CalibrateOptions& options, Calibrated calibration,
                       const sim::timing::Profile& card) {
  FittedProfile& fitted = calibration.fitted;
  if (options.name.empty()) options.name = options.fabric;
  fitted.profile.name = options.name;
  fitted.profile.title = options.title.empty() ? options.name : options.title;
  fmt::print("{}\n{}\nWhat the profile predicts:\n\n{}", to_text(calibration.measured),
             to_text(fitted.costs), compare(calibration.measured, fitted.predicted));
  if (const std::string untold = calibration::untold(fitted);
      options.fabric != "sim" && !untold.empty()) {
    return refuse_calibration(
        calibrate_cannot_tell,
        fmt::format("noise hides {}; no profile is written. Measure on a machine that does nothing "
                    "else, or with more --rounds or --seconds",
                    untold));
  }
  return write_calibration(options, to_text(fitted.profile, [&](std::string_view value) {
                             return calibration::source_of(
                                 value,
                                 fmt::format("falafel calibrate --fabric {}", options.fabric),
                                 fitted.costs, card);
                           }));
}

int serve_calibrations(const CalibrateOptions& options) {
  fmt::print("serving calibrations as '{}'; end it with Ctrl-C\n",
             own_server_name(options.real_time.fabric));
  std::fflush(stdout);
  const auto served = calibration::serve_forever(options.real_time.fabric);
  return served ? 0 : refuse_calibration(calibrate_failed, served.error());
}

int calibrate(CalibrateOptions& options) {
  if (!(options.seconds > 0 && options.seconds <= 3'600)) {
    return refuse_calibration(
        calibrate_wrong_usage,
        fmt::format("--seconds is {}; use more than 0 and at most 3600", options.seconds));
  }
  options.real_time.fabric.fabric = options.fabric;
  options.real_time.duration_ns = static_cast<std::uint64_t>(options.seconds * 1e9);
  if (options.serve) {
    if (options.fabric == "sim")
      return refuse_calibration(calibrate_wrong_usage, "--serve: the simulator has no server");
    return serve_calibrations(options);
  }
  const auto card = sim::timing::find_or_read_profile(options.card);
  if (!card)
    return refuse_calibration(calibrate_wrong_usage, fmt::format("--card: {}", card.error()));
  if (options.fabric == "sim") {
    return report_calibration(options, calibrate_card(*card, options.real_time.clients), *card);
  }
  auto calibration = calibrate_device(options, *card);
  if (!calibration) return refuse_calibration(calibrate_failed, calibration.error());
  calibration->fitted.profile.processors = std::max(1U, std::thread::hardware_concurrency());
  return report_calibration(options, std::move(*calibration), *card);
}

}  // namespace

void add_calibrate_command(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<CalibrateOptions>();
  CLI::App* const command = app.add_subcommand(
      "calibrate", "measure a device, and write its profile for bench --fabric sim --card");
  command
      ->add_option("--fabric", options->fabric,
                   "shm: shared memory of this machine; verbs: InfiniBand or RoCE; sim: the "
                   "simulator with --card")
      ->check(CLI::IsMember({"shm", "verbs", "sim"}))
      ->capture_default_str();
  command->add_option("--name", options->name, "name of the profile (default: that of the fabric)");
  command->add_option("--title", options->title, "what the profile is about (default: its name)");
  command->add_option("--output", options->output, "file to write (default: NAME.json)");
  command->add_option("--clients", options->real_time.clients, "number of clients for rates")
      ->check(CLI::Range(2U, calibration::most_clients))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "duration of each load; sim: ignored")
      ->capture_default_str();
  command
      ->add_option("--rounds", options->real_time.rounds,
                   "number of rounds, of which medians are taken; up to three times as many follow "
                   "while noise hides a cost; sim: ignored")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command
      ->add_option("--card", options->card,
                   "profile with the values that are not measured; sim: the card to measure")
      ->capture_default_str();
  command->add_flag("--serve", options->serve, "serve calibrations of other machines");
  command->add_option("--server", options->real_time.server,
                      "a machine that runs calibrate --serve (default: this machine, by a process "
                      "of the calibration)");
  command->add_option("--directory", options->real_time.fabric.directory,
                      "shm: the directory of that server's socket");
  add_device_options(*command, options->real_time.fabric);
  command->footer(
      "Exit status: 0 measured, 1 a party failed or the profile cannot be written, 2 wrong usage, "
      "3 noise hides a cost that cannot be zero, so there is no profile.");
  command->callback([options, &exit_status] { exit_status = calibrate(*options); });
}

}  // namespace falafel::command_line
