// falafel acceptance: tries a network between two machines, and writes a report.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "falafel/fabric_choice.h"
#include "tools/command_line/acceptance/acceptance.h"
#include "tools/command_line/acceptance/serving.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/store_options.h"

namespace falafel::command_line {
namespace {

constexpr int acceptance_violated = 1;
constexpr int acceptance_wrong_usage = 2;
constexpr int acceptance_not_done = 3;

struct AcceptanceCommand {
  acceptance::AcceptanceOptions options;
  bool serves = false;
};

int refuse_acceptance(int status, std::string_view message) {
  fmt::print(stderr, "falafel acceptance: {}\n", message);
  return status;
}

int serve_acceptance(const FabricOptions& options) {
  constexpr std::uint64_t interval_ns = 10'000'000;
  auto fabric = open_fabric(options);
  if (!fabric) return refuse_acceptance(acceptance_not_done, fabric.error().detail);
  const std::string name = own_server_name(options);
  auto host = (*fabric)->create_host(name);
  if (!host) return refuse_acceptance(acceptance_not_done, host.error().detail);
  fmt::print("serving an acceptance run as '{}'; end it with Ctrl-C\n", name);
  std::fflush(stdout);
  tl::expected<void, std::string> served;
  (*host)->run_program([&] {
    served = acceptance::serve(
        **host, [] { return false; }, interval_ns);
  });
  return served ? 0 : refuse_acceptance(acceptance_not_done, served.error());
}

int status_of_verdict(acceptance::Verdict verdict) {
  if (verdict == acceptance::Verdict::violated) return acceptance_violated;
  return verdict == acceptance::Verdict::not_done ? acceptance_not_done : 0;
}

int try_network(const acceptance::AcceptanceOptions& options) {
  const acceptance::AcceptanceReport report =
      acceptance::run_acceptance(options, [](const std::string& part) {
        fmt::print("{} ...\n", part);
        std::fflush(stdout);
      });
  const std::string path = options.name + ".html";
  std::ofstream file(path);
  file << acceptance::to_page(report);
  file.close();
  for (const acceptance::PartReport& part : report.parts) {
    for (const acceptance::Row& row : part.rows) {
      if (row.verdict < acceptance::Verdict::not_done) continue;
      fmt::print("{}: {}: {}: {}\n", to_string(row.verdict), part.title, row.name, row.observed);
    }
  }
  if (!report.is_on_hardware) fmt::print("Not tried on hardware: no RDMA card took part.\n");
  fmt::print("{}\n", acceptance::summary_of(report));
  if (!file) {
    return refuse_acceptance(acceptance_not_done,
                             fmt::format("'{}' cannot be written; check --output", path));
  }
  fmt::print("Report: {}\n", path);
  return status_of_verdict(report.verdict());
}

int accept_network(const AcceptanceCommand& command) {
  const acceptance::AcceptanceOptions& options = command.options;
  if (command.serves) return serve_acceptance(options.fabric);
  if (options.peer.empty()) {
    return refuse_acceptance(acceptance_wrong_usage,
                             "give --peer HOST, or --serve on the other machine");
  }
  if (!(options.minutes > 0 && options.minutes <= 1'440)) {
    return refuse_acceptance(
        acceptance_wrong_usage,
        fmt::format("--minutes is {}; use more than 0 and at most 1440", options.minutes));
  }
  return try_network(options);
}

}  // namespace

void add_acceptance_command(CLI::App& app, int& exit_status) {
  const auto command = std::make_shared<AcceptanceCommand>();
  acceptance::AcceptanceOptions& options = command->options;
  options.fabric.fabric = "verbs";
  CLI::App* const added = app.add_subcommand(
      "acceptance",
      "try a network between two machines: its rules, its costs, and the store on it");
  CLI::Option* const serve =
      added->add_flag("--serve", command->serves, "serve the other machine's run, until Ctrl-C");
  added->add_option("--peer", options.peer, "the machine that runs acceptance --serve")
      ->excludes(serve);
  added
      ->add_option("--fabric", options.fabric.fabric,
                   "verbs: InfiniBand or RoCE; shm: shared memory of this machine, to try the "
                   "command itself")
      ->check(CLI::IsMember({"shm", "verbs"}))
      ->capture_default_str();
  added
      ->add_option("--minutes", options.minutes,
                   "how long all parts take together, about; an emulated network takes longer")
      ->excludes(serve)
      ->capture_default_str();
  added
      ->add_option("--output", options.name,
                   "name of the files to write: NAME.html and NAME-profile.json")
      ->excludes(serve)
      ->capture_default_str();
  added
      ->add_option("--interface", options.interface,
                   "take this machine's network interface down for 20 seconds under load; requires "
                   "the superuser (default: do not)")
      ->excludes(serve);
  added->add_option("--directory", options.fabric.directory,
                    "shm: the directory of the server's socket");
  add_device_options(*added, options.fabric);
  added->footer(
      "Exit status: 0 nothing forbidden was seen, 1 something forbidden was seen, 2 wrong usage, 3 "
      "nothing forbidden was seen, but something could not be done.");
  added->callback([command, &exit_status] {
    command->options.command = fmt::format(
        "falafel acceptance --fabric {} --peer {} --minutes {}{}", command->options.fabric.fabric,
        command->options.peer, command->options.minutes,
        command->options.interface.empty() ? "" : " --interface " + command->options.interface);
    exit_status = accept_network(*command);
  });
}

}  // namespace falafel::command_line
