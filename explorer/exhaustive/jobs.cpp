#include "explorer/exhaustive/jobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "explorer/exhaustive/assumptions.h"
#include "explorer/exhaustive/checkpoint.h"
#include "explorer/exhaustive/parts.h"
#include "explorer/wall_clock.h"
#include "processes/child_process.h"

namespace falafel::explorer {
namespace {

constexpr double seconds_between_sums = 1;
constexpr double seconds_between_checkpoints = 1;

// A process that explores one part, and writes what it has counted into a pipe.
class Job {
 public:
  Job(PartName part, const std::function<PartCounts()>& explore) : part_(std::move(part)) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) processes::fail_system_call("pipe2");
    process_ = std::make_unique<processes::ChildProcess>(
        [&] {
          const std::string text = nlohmann::json(explore()).dump();
          const ssize_t written = ::write(ends[1], text.data(), text.size());
          return written == static_cast<ssize_t>(text.size()) ? 0 : 1;
        },
        processes::ChildOptions{.dies_with_parent = true});
    close(ends[1]);
    input_ = ends[0];
  }
  ~Job() { close(input_); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const PartName& part() const { return part_; }
  std::optional<processes::Ending> poll() { return process_->poll(); }
  // After a success.
  PartCounts counts() const {
    std::array<char, 65'536> buffer{};  // more than the text, and no more than a pipe holds
    const ssize_t count = ::read(input_, buffer.data(), buffer.size());
    const std::string text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return nlohmann::json::parse(text).get<PartCounts>();
  }

 private:
  PartName part_;
  std::unique_ptr<processes::ChildProcess> process_;
  int input_ = -1;
};

class Jobs {
 public:
  Jobs(const Program& program, const ExhaustiveOptions& options, const JobOptions& jobs,
       const Execute& execute, Checkpoint checkpoint)
      : program_(program),
        options_(options),
        job_options_(jobs),
        execute_(execute),
        checkpoint_(std::move(checkpoint)),
        earlier_conditions_(checkpoint_.conditions) {
    trees_.emplace(PartName{}, Tree{});
  }

  // Goes on from the checkpoint. A part comes after the part that contains it.
  tl::expected<void, std::string> restore() {
    for (const auto& [part, counts] : checkpoint_.parts) {
      if (!trees_.contains(part)) {
        return tl::unexpected(fmt::format("{}: the exploration has no part [{}]; remove the file",
                                          job_options_.checkpoint, fmt::join(part, ", ")));
      }
      std::vector<Subtree> parts;
      if (counts.is_split) parts = split(trees_.at(part).subtree, options_, execute_).parts;
      finish(part, counts, std::move(parts));
    }
    return {};
  }

  // Explores the parts that are not finished, up to the first violation or a limit.
  tl::expected<void, std::string> run() {
    while (!must_stop()) {
      start_jobs();
      if (running_.empty()) break;
      poll();
      auto saved = save_sometimes();
      if (!saved) return saved;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    running_.clear();  // kills them
    return save();
  }

  // The first part with a violation, if there is one.
  const Subtree* violated_tree() const {
    return violated_ ? &trees_.at(*violated_).subtree : nullptr;
  }

  // The sum of the parts up to the first violation.
  ExhaustiveResult result() const {
    ExhaustiveResult result;
    for (const auto& [part, counts] : checkpoint_.parts) {
      if (!violated_ || part <= *violated_) add_to(result, counts);
    }
    if (!trees_.empty()) result.coverage = Coverage::stopped;
    result.explored_share = trees_.empty() ? 1 : explored_share_;
    if (violated_) {
      result.violations = 1;
      result.executions_until_violation = result.executions;
    }
    result.earlier_conditions = earlier_conditions_;
    result.crash = crash_;
    result.seconds = now_seconds() - start_seconds_;
    return result;
  }

 private:
  struct Tree {
    Subtree subtree;
    double share = 1;  // of the whole tree: the parts of a part have equal shares
  };

  static void add_to(ExhaustiveResult& result, const PartCounts& counts) {
    result.executions += counts.executions;
    result.cut_off += counts.cut_off;
    result.redundant += counts.redundant;
    result.unknown += counts.unknown;
    result.steps += counts.steps;
    result.has_explored |= counts.has_explored;
    result.fixed_choices = std::max(result.fixed_choices, counts.fixed_choices);
    result.deadlines.insert(counts.deadlines.begin(), counts.deadlines.end());
    if (counts.cut_off > 0) result.coverage = Coverage::complete_up_to_steps;
  }

  // `parts`: of a part that was split.
  void finish(const PartName& part, const PartCounts& counts, std::vector<Subtree> parts) {
    finished_runs_ += counts.executions + counts.redundant;
    if (counts.is_violated) {
      if (!violated_ || part < *violated_) violated_ = part;
      return;  // the tree is needed to find the violation again
    }
    const double share = trees_.at(part).share;
    trees_.erase(part);
    if (parts.empty()) explored_share_ += share;
    for (std::size_t index = 0; index < parts.size(); ++index) {
      PartName name = part;
      name.push_back(index);
      trees_.emplace(std::move(name), Tree{.subtree = std::move(parts[index]),
                                           .share = share / static_cast<double>(parts.size())});
    }
  }

  bool must_stop() {
    const double seconds = now_seconds() - start_seconds_;
    if (options_.progress && seconds >= next_report_seconds_) {
      options_.progress(result());
      next_report_seconds_ = seconds + seconds_between_sums;
    }
    const bool is_asked = job_options_.should_stop && job_options_.should_stop();
    return is_asked || seconds >= options_.max_seconds || !crash_.empty() ||
           finished_runs_ >= options_.max_executions;
  }

  bool is_running(const PartName& part) const {
    return std::ranges::any_of(running_, [&](const auto& job) { return job->part() == part; });
  }

  // Not beyond a violation, which is the result.
  void start_jobs() {
    for (const auto& [part, tree] : trees_) {
      if (running_.size() >= job_options_.jobs || (violated_ && part >= *violated_)) return;
      if (is_running(part)) continue;
      running_.push_back(std::make_unique<Job>(part, [&, &tree = tree] {
        return explore_part(tree.subtree, options_, job_options_.most_runs_of_part, execute_);
      }));
    }
  }

  void poll() {
    for (std::size_t index = running_.size(); index-- > 0;) {
      const std::optional<processes::Ending> ending = running_[index]->poll();
      if (!ending) continue;
      const std::unique_ptr<Job> job = std::move(running_[index]);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
      if (ending->is_success()) {
        keep(job->part(), job->counts());
      } else {
        crash_ = fmt::format("part [{}]: the process {}", fmt::join(job->part(), ", "),
                             ending->describe());
      }
    }
  }

  void keep(const PartName& part, PartCounts counts) {
    std::vector<Subtree> parts;
    if (counts.is_split) {
      Split below = split(trees_.at(part).subtree, options_, execute_);
      counts = below.above;
      parts = std::move(below.parts);
    }
    checkpoint_.parts[part] = counts;
    finish(part, counts, std::move(parts));
  }

  tl::expected<void, std::string> save_sometimes() {
    const double seconds = now_seconds() - start_seconds_;
    if (checkpoint_.parts.empty() || seconds < next_save_seconds_) return {};
    next_save_seconds_ = seconds + seconds_between_checkpoints;
    return save();
  }

  tl::expected<void, std::string> save() {
    if (job_options_.checkpoint.empty()) return {};
    checkpoint_.conditions = earlier_conditions_;
    for (const auto& [name, count] : program_.conditions()) checkpoint_.conditions[name] += count;
    return save_checkpoint(job_options_.checkpoint, checkpoint_);
  }

  const Program& program_;
  const ExhaustiveOptions& options_;
  const JobOptions& job_options_;
  const Execute& execute_;
  Checkpoint checkpoint_;
  std::map<std::string, std::uint64_t> earlier_conditions_;
  std::map<PartName, Tree> trees_;    // of parts that are not finished, or violated
  std::optional<PartName> violated_;  // the first one
  std::vector<std::unique_ptr<Job>> running_;
  std::uint64_t finished_runs_ = 0;
  double explored_share_ = 0;  // the shares of the finished parts
  std::string crash_;
  double start_seconds_ = now_seconds();
  double next_report_seconds_ = seconds_between_sums;
  double next_save_seconds_ = 0;
};

}  // namespace

tl::expected<ExhaustiveResult, std::string> explore_in_jobs(const Program& program,
                                                            const Scenario& scenario,
                                                            const ExhaustiveOptions& options,
                                                            const JobOptions& job_options) {
  const auto explored = scenario_for_exploration(scenario, options);
  if (!explored) return tl::unexpected(explored.error());
  Checkpoint checkpoint;
  checkpoint.exploration =
      describe_exploration(program, **explored, options, job_options.most_runs_of_part);
  if (!job_options.checkpoint.empty()) {
    const auto loaded = load_checkpoint(job_options.checkpoint, checkpoint);
    if (!loaded) return tl::unexpected(loaded.error());
  }
  const std::unique_ptr<Runner> runner = program.create_runner();
  const Execute execute = executor_of(*runner, **explored);
  const ExhaustiveOptions of_program = options_of_program(options, execute);
  Jobs jobs(program, of_program, job_options, execute, std::move(checkpoint));
  const auto run = jobs.restore().and_then([&] { return jobs.run(); });
  if (!run) return tl::unexpected(run.error());
  ExhaustiveResult result = jobs.result();
  if (const Subtree* tree = jobs.violated_tree()) {
    result.violation = find_violation(*tree, of_program, execute, [&](sim::Strategy& strategy) {
      return record(*runner, **explored, strategy);
    });
  }
  describe_bounds(options, false, result);
  result.assumptions = assumptions_of((*explored)->simulation, result.fixed_choices);
  return result;
}

}  // namespace falafel::explorer
