#include "explorer/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>

#include "explorer/crash_recorder.h"
#include "explorer/failing_run.h"
#include "explorer/wall_clock.h"
#include "fabric/fiber_stack.h"
#include "fabric/random.h"
#include "fabric/sim/strategies/replay_strategy.h"

namespace falafel::explorer {
namespace {

// Schedules normally take milliseconds. When the time of the campaign is over, it waits no longer
// than it has to.
constexpr double usual_patience_seconds = 60;
constexpr double last_patience_seconds = 20;
// A program that depends on more than its choices does so in many schedules, so a few repeated ones
// show it. Seed 1 is one of them, since short campaigns begin there.
constexpr std::uint64_t repeat_one_in = 40;

template <std::size_t size>
void add(std::array<std::atomic<std::uint64_t>, size>& counters,
         const std::array<std::uint64_t, size>& values) {
  for (std::size_t index = 0; index < size; ++index) counters[index] += values[index];
}

// The campaign adds these values, and a sum does not depend on order; mixing ties each hash to its
// seed.
std::uint64_t mix(std::uint64_t seed, std::uint64_t trace_hash) {
  std::uint64_t state = seed ^ (trace_hash * 0x9e3779b97f4a7c15U);
  return fabric::splitmix64(state);
}

void write_line(int output, const Finding& finding, bool is_judged = true) {
  const nlohmann::json json = {{"property", finding.property},
                               {"seed", finding.seed},
                               {"steps", finding.steps},
                               {"explanation", finding.explanation},
                               {"is_judged", is_judged}};
  const std::string line =
      json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = write(output, line.data() + written, line.size() - written);
    if (count < 0 && errno != EINTR) _exit(3);
    if (count > 0) written += static_cast<std::size_t>(count);
  }
}

// Finds where the second run diverges from the first. A replay detects the first question that
// differs.
std::string find_divergence(Runner& runner, const Scenario& scenario, std::uint64_t seed) {
  const FailingRun first = record(runner, scenario, *make_seeded_strategy(scenario, seed, &runner));
  sim::ReplayStrategy replay(first.choices);
  const Run second = runner.run(scenario, replay);
  return fmt::format("the second run with the same seed diverged: {}",
                     second.result.outcome == sim::Outcome::diverged
                         ? second.result.explanation
                         : "it did not diverge again when replayed");
}

void run_seed(const Program& program, Runner& runner, std::uint64_t seed, WorkerCounters& counters,
              int output) {
  const std::unique_ptr<Scenario> scenario = program.draw(seed);
  const Run run = runner.run(*scenario, *make_seeded_strategy(*scenario, seed, &runner));
  for (const checkers::Judgement& violation : run.violations) {
    write_line(output, {.property = violation.property,
                        .seed = seed,
                        .steps = run.result.steps,
                        .explanation = violation.explanation});
  }
  for (const checkers::Judgement& unknown : run.unknown) {
    const bool is_judged = false;
    write_line(output,
               {.property = unknown.property,
                .seed = seed,
                .steps = run.result.steps,
                .explanation = unknown.explanation},
               is_judged);
  }
  if (seed % repeat_one_in == 1) {
    const Run again = runner.repeat(*scenario, *make_seeded_strategy(*scenario, seed, &runner));
    if (again.result.trace_hash != run.result.trace_hash) {
      write_line(output, {.property = std::string(determinism_property),
                          .seed = seed,
                          .steps = run.result.steps,
                          .explanation = find_divergence(runner, *scenario, seed)});
    }
  }
  counters.steps += run.result.steps;
  counters.hash += mix(seed, run.result.trace_hash);
  counters.unknown += run.unknown.empty() ? 0 : 1;
  add(counters.probes, run.result.probes);
  add(counters.simulator_probes, run.result.simulator_probes);
  add(counters.faults, run.result.faults);
  ++counters.schedules;
}

}  // namespace

Worker::Worker(const Program& program, SeedSource& seeds) : program_(program), seeds_(seeds) {
  start();
}

Worker::~Worker() {
  process_.reset();
  if (input_ >= 0) close(input_);
}

void Worker::start() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) processes::fail_system_call("pipe2");
  process_.emplace(
      [&] {
        close(ends[0]);
        work(ends[1]);
        return 0;
      },
      processes::ChildOptions{.dies_with_parent = true});
  close(ends[1]);
  if (input_ >= 0) close(input_);
  input_ = ends[0];
  fcntl(input_, F_SETFL, O_NONBLOCK);
  taken_before_ = last_taken_ = counters_->taken;
  seconds_at_progress_ = now_seconds();
}

void Worker::work(int output) {
  const fabric::StackOverflowReport stack_overflow_report;
  const std::unique_ptr<Runner> runner = program_.create_runner();
  while (!counters_->stop) {
    const std::optional<std::uint64_t> seed = seeds_.take();
    const std::uint64_t limit = counters_->seed_limit;
    if (!seed || (limit > 0 && *seed > limit)) break;
    counters_->current_seed = *seed;
    ++counters_->taken;
    run_seed(program_, *runner, *seed, *counters_, output);
  }
}

void Worker::stop() { counters_->stop = true; }

double Worker::patience_seconds() const {
  return counters_->stop ? last_patience_seconds : usual_patience_seconds;
}

WorkerReport Worker::poll() {
  WorkerReport report;
  if (is_over()) return report;
  read_lines(report);
  const double now = now_seconds();
  if (counters_->taken != last_taken_) {
    last_taken_ = counters_->taken;
    seconds_at_progress_ = now;
  } else if (now - seconds_at_progress_ > patience_seconds()) {
    process_->kill();
  }
  reap(report);
  return report;
}

void Worker::read_lines(WorkerReport& report) {
  std::array<char, 4096> buffer{};
  for (ssize_t count; (count = read(input_, buffer.data(), buffer.size())) > 0;) {
    unread_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  for (std::size_t end; (end = unread_.find('\n')) != std::string::npos;) {
    const auto json = nlohmann::json::parse(unread_.substr(0, end));
    unread_.erase(0, end + 1);
    if (!json["is_judged"].get<bool>()) {
      add(report.unjudged, {{json["property"].get<std::string>(),
                             {.schedules = 1,
                              .seed = json["seed"].get<std::uint64_t>(),
                              .reason = json["explanation"].get<std::string>()}}});
      continue;
    }
    report.findings.push_back({.property = json["property"],
                               .seed = json["seed"],
                               .steps = json["steps"],
                               .explanation = json["explanation"]});
  }
}

Finding Worker::about_current_seed(std::string_view property, std::string explanation) const {
  return {.property = std::string(property),
          .seed = counters_->current_seed,
          .steps = 0,
          .explanation = std::move(explanation)};
}

void Worker::reap(WorkerReport& report) {
  const std::optional<processes::Ending> ending = process_->poll();
  if (!ending) return;
  read_lines(report);
  unread_.clear();
  process_.reset();
  if (ending->is_success()) return;
  const bool hung = ending->signal() == SIGKILL;
  report.findings.push_back(
      hung ? about_current_seed(hang_property,
                                fmt::format("the run did not end within {} s", patience_seconds()))
           : about_current_seed(crash_property, fmt::format("the process {}", ending->describe())));
  const bool has_run_any = counters_->taken > taken_before_;  // if not, the next would end as well
  if (has_run_any && !counters_->stop) start();
}

}  // namespace falafel::explorer
