#include "explorer/main.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "explorer/commands/arguments.h"
#include "explorer/commands/chosen_program.h"
#include "explorer/commands/command_program.h"
#include "explorer/commands/commands.h"
#include "explorer/commands/simulation_texts.h"
#include "fabric/assert.h"
#include "fabric/fiber_stack.h"

namespace falafel::command_line {
namespace {

// The programs that a user's executable links.
class LinkedPrograms final : public CommandProgram {
 public:
  LinkedPrograms(std::string executable, std::span<const explorer::Program* const> programs)
      : executable_(std::move(executable)), programs_(programs) {}

  std::string executable() const override { return executable_; }
  std::string noun() const override { return "the program"; }
  void add_fuzz_options(CLI::App& command) override {
    add_program_option(command);
    add_simulation_options(command, texts_);
  }
  void add_program_option(CLI::App& command) override {
    command.add_option("--program", name_, fmt::format("one of {}", fmt::join(names(), ", ")))
        ->check(CLI::IsMember(names()))
        ->required(programs_.size() > 1);
  }
  tl::expected<std::unique_ptr<explorer::Program>, std::string> create() const override {
    auto choices = parse_simulation(texts_);
    if (!choices) return tl::unexpected(choices.error());
    return std::make_unique<ChosenProgram>(chosen(), std::move(*choices));
  }
  const explorer::Program& selected() const override { return chosen(); }
  std::string title() const override { return std::string(chosen().name()); }
  std::span<const explorer::Program* const> programs() const override { return programs_; }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const explorer::Program* const program : programs_) names.emplace_back(program->name());
    return names;
  }
  const explorer::Program& chosen() const {
    const auto found = std::ranges::find(programs_, name_, &explorer::Program::name);
    return found == programs_.end() ? *programs_.front() : **found;
  }

  std::string executable_;
  std::span<const explorer::Program* const> programs_;
  std::string name_;
  SimulationTexts texts_;
};

}  // namespace
}  // namespace falafel::command_line

namespace falafel::explorer {

int main(int argument_count, char** arguments, std::span<const Program* const> programs) {
  FALAFEL_ASSERT(!programs.empty(), "explorer::main needs at least one program");
  const fabric::StackOverflowReport stack_overflow_report;
  int exit_status = 0;
  command_line::LinkedPrograms linked(argument_count > 0 ? arguments[0] : "PROGRAM", programs);
  CLI::App app("Runs a program on a simulated RDMA network under many schedules");
  app.require_subcommand(1);
  command_line::add_fuzz_command(app, linked, exit_status);
  command_line::add_merge_command(app, linked, exit_status);
  command_line::add_report_command(app, linked, exit_status);
  command_line::add_replay_command(app, linked, exit_status);
  command_line::add_trace_command(app, linked, exit_status);
  command_line::add_shrink_command(app, linked, exit_status);
  command_line::add_ablate_command(app, linked, exit_status);
  command_line::add_prove_command(app, linked, exit_status);
  command_line::add_check_command(app, exit_status);
  const auto refused = command_line::parse_arguments(app, argument_count, arguments);
  return refused.value_or(exit_status);
}

}  // namespace falafel::explorer
