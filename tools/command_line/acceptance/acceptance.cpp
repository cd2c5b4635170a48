#include "tools/command_line/acceptance/acceptance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "falafel_build_identity.h"
#include "tools/command_line/acceptance/calibration_part.h"
#include "tools/command_line/acceptance/child.h"
#include "tools/command_line/acceptance/conformance.h"
#include "tools/command_line/acceptance/intruder.h"
#include "tools/command_line/acceptance/litmus.h"
#include "tools/command_line/acceptance/store_part.h"

namespace falafel::acceptance {
namespace {

using Clock = std::chrono::steady_clock;

// Shares of the whole time. Conformance and the intruder take as long as they take.
constexpr double share_of_litmus = 0.4;
constexpr double share_of_intruder = 0.02;
constexpr double share_of_store = 0.4;
// With all loads and rounds, a load of 0.1 s makes a calibration of about two minutes.
constexpr double minutes_of_usual_calibration = 30;
constexpr double usual_seconds_per_load = 0.1;
constexpr double least_seconds_per_load = 0.02;

class Acceptance {
 public:
  Acceptance(const AcceptanceOptions& options,
             const std::function<void(const std::string&)>& on_part)
      : options_(options), on_part_(on_part) {}

  AcceptanceReport run() {
    const auto begin = Clock::now();
    describe();
    if (greet()) run_parts();
    report_.seconds = seconds_since(begin);
    return std::move(report_);
  }

 private:
  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  void describe() {
    report_.fabric = options_.fabric.fabric;
    report_.command = options_.command;
    report_.begun = fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr)));
    report_.own_version = build::identity;
    report_.own_machine = facts_of_machine();
    report_.is_on_hardware = options_.fabric.fabric == "verbs" && !has_only_software_devices();
  }

  // Asks who the other side is. Without an answer there is nothing to do.
  bool greet() {
    on_part_("connecting");
    const auto greeted = run_in_child(std::chrono::seconds(120), [this] {
      return run_on_host(options_.fabric, [this](fabric::Host& host) {
        const Peer peer(host, options_.peer);
        return nlohmann::json{{"version", peer.version()},
                              {"machine", peer.machine()},
                              {"device", facts_of_device(host.device(0).attributes())}};
      });
    });
    if (!greeted) {
      add_failed("Connecting", greeted.error());
      return false;
    }
    report_.other_version = greeted->at("version");
    report_.other_machine = greeted->at("machine");
    report_.own_device = greeted->at("device").get<Facts>();
    return true;
  }

  void run_parts() {
    run_part("Conformance", [this] {
      return run_on_host(options_.fabric, [this](fabric::Host& host) {
        return to_json(run_conformance(host, options_.peer));
      });
    });
    run_part("Litmus tests", [this] {
      return run_on_host(options_.fabric, [this](fabric::Host& host) {
        return to_json(run_litmus(host, options_.peer, budget_of(share_of_litmus)));
      });
    });
    run_part("Calibration", [this] { return to_json(run_calibration(calibration_plan())); });
    const bool has_store = ask_for_store();
    if (!has_store) return;
    run_part("Intruder", [this] {
      return run_on_host(options_.fabric, [this](fabric::Host& host) {
        return to_json(run_intruder(host, options_.peer, budget_of(share_of_intruder)));
      });
    });
    run_part("The store", [this] {
      return to_json(run_store({.fabric = options_.fabric,
                                .server = options_.peer,
                                .seconds = 60 * options_.minutes * share_of_store,
                                .interface = options_.interface}));
    });
  }

  Budget budget_of(double share) const {
    return {.duration_ns = static_cast<std::uint64_t>(60e9 * options_.minutes * share),
            .most_repetitions = ~std::uint32_t{0}};
  }

  CalibrationPlan calibration_plan() const {
    const double seconds =
        usual_seconds_per_load * std::min(1.0, options_.minutes / minutes_of_usual_calibration);
    return {.fabric = options_.fabric,
            .server = options_.peer,
            .seconds_per_load = std::max(seconds, least_seconds_per_load),
            .profile_path = options_.name + "-profile.json",
            .name = options_.name};
  }

  bool ask_for_store() {
    const auto begun = run_in_child(std::chrono::seconds(120), [this] {
      return run_on_host(options_.fabric, [this](fabric::Host& host) {
        Peer(host, options_.peer).ask({.task = Task::begin_store});
        return nlohmann::json();
      });
    });
    if (!begun) add_failed("The store", begun.error());
    return begun.has_value();
  }

  void run_part(const std::string& title, const std::function<nlohmann::json()>& body) {
    on_part_(title);
    // A slow emulated network needs a multiple of the planned time, but a hang must end.
    const auto limit = std::chrono::seconds(1'800 + static_cast<long>(120 * options_.minutes));
    const auto result = run_in_child(limit, body);
    if (!result) return add_failed(title, result.error());
    report_.parts.push_back(part_from_json(*result));
  }

  void add_failed(const std::string& title, const std::string& reason) {
    report_.parts.push_back({.title = title,
                             .about = "This part did not come to its end.",
                             .rows = {{.name = "the part as a whole",
                                       .source = "",
                                       .expected = "it ends",
                                       .observed = reason}}});
  }

  const AcceptanceOptions& options_;
  const std::function<void(const std::string&)>& on_part_;
  AcceptanceReport report_;
};

}  // namespace

AcceptanceReport run_acceptance(const AcceptanceOptions& options,
                                const std::function<void(const std::string&)>& on_part) {
  return Acceptance(options, on_part).run();
}

}  // namespace falafel::acceptance
