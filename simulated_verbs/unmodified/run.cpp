// falafel run: programs of the system, unmodified, as the hosts of a simulated network.
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explorer/check.h"
#include "explorer/commands/arguments.h"
#include "explorer/commands/simulation_texts.h"
#include "explorer/failing_run.h"
#include "fabric/fiber_stack.h"
#include "simulated_verbs/programs.h"
#include "simulated_verbs/unmodified/cheap_switches.h"
#include "simulated_verbs/unmodified/executable.h"
#include "simulated_verbs/unmodified/loaded_program.h"
#include "simulated_verbs/unmodified/memory_of_process.h"
#include "simulated_verbs/unmodified/object_memory.h"
#include "simulated_verbs/unmodified/processors_of_workers.h"
#include "simulated_verbs/unmodified/served_program.h"

namespace falafel::simulated_verbs {
namespace {

constexpr int status_of_wrong_usage = 2;
// Programs ask for it that do not look what the device can do, such as those of ibverbs-utils.
constexpr std::uint64_t usual_mtu_bytes = 1'024;

struct RunOptions {
  std::vector<std::pair<std::string, std::string>> hosts;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> schedules;
  std::optional<std::uint64_t> usual_steps;
  unsigned jobs = 1;
  bool is_strict = false;
  bool loads_anew = false;
  double patience_seconds = 10;
  double shrink_seconds = 20;
  std::uint64_t critical_tries = 30;
  std::string replay;
  std::string output = ".";
  command_line::SimulationTexts network{.strategy = {}, .faults = "delays", .options = {}};
};

struct PlannedHost {
  std::string name;
  Executable executable;
};

// The hosts of each run, and what runs of this process have left.
struct Plan {
  std::vector<PlannedHost> hosts;
  LoadedPrograms programs;
  ProcessorsOfWorkers processors;
  ServingOptions serving;
  bool is_strict = false;
  std::vector<ProgramReport> reports;
  LoopsOfHosts loops;
};

void run_hosts(Plan& plan, check::World& world) {
  const CheapSwitches switches(plan.processors.own());
  ObjectMemory objects;
  const auto report = [&world](std::string property, std::string explanation) {
    world.fail(std::move(property), std::move(explanation));
  };
  ServedPrograms served(plan.serving, objects, plan.programs, plan.loops, report);
  Programs programs(world, {.is_strict = plan.is_strict, .has_shared_heaps = true});
  for (const PlannedHost& host : plan.hosts) {
    programs.client(host.name, [&] { return served.run(host.executable); });
  }
  world.run();
  plan.reports = served.reports();
}

// Processes that wait to be copied outlast the workers that started them. They are killed then, and
// become children of this process.
class OrphanedProcesses {
 public:
  OrphanedProcesses() { prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~OrphanedProcesses() {
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
  }
  OrphanedProcesses(const OrphanedProcesses&) = delete;
  OrphanedProcesses& operator=(const OrphanedProcesses&) = delete;
};

std::string libraries_of_this_program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

tl::expected<std::vector<PlannedHost>, std::string> plan_hosts(const RunOptions& options) {
  std::vector<PlannedHost> hosts;
  for (const auto& [name, command] : options.hosts) {
    const bool is_known = std::ranges::find(hosts, name, &PlannedHost::name) != hosts.end();
    if (is_known) return tl::unexpected(fmt::format("there are two hosts '{}'; rename one", name));
    auto executable = find_executable(command);
    if (!executable) {
      return tl::unexpected(fmt::format("--host {}: {}", name, executable.error()));
    }
    const auto fixed = std::ranges::find_if(
        hosts, [](const PlannedHost& host) { return host.executable.has_fixed_addresses; });
    if (executable->has_fixed_addresses && fixed != hosts.end()) {
      return tl::unexpected(
          fmt::format("--host {}: {} has fixed addresses, as has the program of host '{}'; only "
                      "one such program "
                      "can run in a network, so link the other one with -pie",
                      name, executable->path, fixed->name));
    }
    hosts.push_back({.name = name, .executable = std::move(*executable)});
  }
  return hosts;
}

// The kinds of faults that `delays` stands for, and otherwise the texts of all campaigns.
tl::expected<check::Network, std::string> network_of(const RunOptions& options) {
  command_line::SimulationTexts texts = options.network;
  const bool only_delays = texts.faults == "delays";
  if (only_delays) texts.faults = "all";
  const auto choices = command_line::parse_simulation(texts);
  if (!choices) return tl::unexpected(choices.error());
  return check::Network{.faults = only_delays ? check::delays() : check::all_faults(),
                        .usual_steps = options.usual_steps,
                        .adjust = [choices = *choices](sim::SimulationOptions& simulation) {
                          simulation.mtu_bytes = std::max(simulation.mtu_bytes, usual_mtu_bytes);
                          command_line::apply(choices, simulation);
                        }};
}

void print_report(const ProgramReport& report) {
  fmt::print("--- {} ({})\n{}", report.host, report.ending, report.output);
  if (!report.output.empty() && report.output.back() != '\n') fmt::print("\n");
}

int run_once(Plan& plan, const check::WorldProgram& program, std::uint64_t seed) {
  const auto runner = program.create_runner();
  const auto scenario = program.draw(seed);
  const auto strategy = explorer::make_seeded_strategy(*scenario, seed, runner.get());
  const explorer::Run run = runner->run(*scenario, *strategy);
  for (const PlannedHost& host : plan.hosts) {
    for (const ProgramReport& report : plan.reports) {
      if (report.host == host.name) print_report(report);
    }
  }
  fmt::print("--- seed {}: {} steps, {} ns, trace hash {:016x}\n", seed, run.result.steps,
             run.result.time_ns, run.result.trace_hash);
  for (const checkers::Judgement& violation : run.violations) {
    fmt::print("VIOLATED {}: {}\n", violation.property, violation.explanation);
  }
  return run.violations.empty() ? 0 : 1;
}

int run_schedules(const check::WorldProgram& program, const RunOptions& options) {
  check::Environment environment = check::own_environment();
  if (!options.replay.empty()) environment.replay = options.replay;
  const check::Result result = check::run_campaign(program,
                                                   {.name = std::string(program.name()),
                                                    .schedules = options.schedules.value_or(1),
                                                    .first_seed = options.seed,
                                                    .jobs = options.jobs,
                                                    .shrink_seconds = options.shrink_seconds,
                                                    .critical_tries = options.critical_tries,
                                                    .output = options.output},
                                                   environment);
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}

int report_wrong_usage(const std::string& message) {
  fmt::print(stderr, "falafel run: {}\n", message);
  return status_of_wrong_usage;
}

int run(const RunOptions& options) {
  auto hosts = plan_hosts(options);
  if (!hosts) return report_wrong_usage(hosts.error());
  auto network = network_of(options);
  if (!network) return report_wrong_usage(network.error());
  if (personality(ADDR_NO_RANDOMIZE) < 0) {
    fmt::print(stderr,
               "falafel run: the system gives programs other addresses each time, so runs "
               "may not repeat; permit personality(ADDR_NO_RANDOMIZE)\n");
  }
  const OrphanedProcesses orphaned_processes;
  serve_memory_of_processes();
  Plan plan{.hosts = std::move(*hosts),
            .programs = LoadedPrograms(libraries_of_this_program(), options.loads_anew),
            .processors = ProcessorsOfWorkers(options.schedules ? options.jobs : 1),
            .serving = {.patience_seconds = options.patience_seconds},
            .is_strict = options.is_strict,
            .reports = {},
            .loops = {}};
  const auto program = check::program(
      "run", [&plan](check::World& world) { run_hosts(plan, world); }, std::move(*network));
  if (options.schedules || !options.replay.empty()) return run_schedules(*program, options);
  return run_once(plan, *program, options.seed);
}

void add_options(CLI::App& command, RunOptions& options) {
  command
      .add_option("--host", options.hosts,
                  "a host: its name, and the command that it runs (may be repeated)")
      ->required();
  command.add_option("--seed", options.seed, "of the run, or the first of several")
      ->capture_default_str();
  command.add_option("--schedules", options.schedules,
                     "search so many seeds for one that fails, instead of one run");
  command.add_option("--jobs", options.jobs, "worker processes")->capture_default_str();
  command.add_option("--replay", options.replay,
                     "repeat the run of this file, with the same hosts");
  command.add_option("--output", options.output, "folder for replay files")->capture_default_str();
  command.add_option("--usual-steps", options.usual_steps,
                     "steps of a run without faults, which otherwise five runs measure");
  command.add_option("--shrink-seconds", options.shrink_seconds, "for the first failing run")
      ->capture_default_str();
  command
      .add_option("--critical-tries", options.critical_tries,
                  "continuations to try for the critical step; 0: do not search for it")
      ->capture_default_str();
  command.add_flag("--strict", options.is_strict, "a call that the specification forbids fails");
  command.add_flag(
      "--load-anew", options.loads_anew,
      "load each program for each run, instead of copying a process that has loaded it");
  command
      .add_option("--patience", options.patience_seconds,
                  "seconds after which a program that makes no call is killed")
      ->capture_default_str();
  command.add_option("--strategy", options.network.strategy, "random, pct, pos or urw");
  command
      .add_option("--faults", options.network.faults,
                  "delays, all, none, or a comma-separated list of faults")
      ->capture_default_str();
  command.add_option("--simulator", options.network.options,
                     "option of the simulator, as NAME=VALUE (may be repeated)");
}

}  // namespace
}  // namespace falafel::simulated_verbs

int main(int argument_count, char** arguments) {
  const falafel::fabric::StackOverflowReport stack_overflow_report;
  int exit_status = 0;
  falafel::simulated_verbs::RunOptions options;
  CLI::App app("Runs programs of the system on a simulated RDMA network", "falafel");
  app.require_subcommand(1);
  CLI::App* const command =
      app.add_subcommand("run", "run unmodified libibverbs programs on a simulated network");
  falafel::simulated_verbs::add_options(*command, options);
  command->callback([&] {
    try {
      exit_status = falafel::simulated_verbs::run(options);
    } catch (const std::exception& error) {
      exit_status = falafel::simulated_verbs::report_wrong_usage(error.what());
    }
  });
  const auto refused = falafel::command_line::parse_arguments(app, argument_count, arguments);
  return refused.value_or(exit_status);
}
