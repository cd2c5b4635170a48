// The programs that the commands of the explorer run, as far as the commands know them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "explorer/program.h"

namespace falafel::command_line {

class CommandProgram {
 public:
  virtual ~CommandProgram() = default;

  // The name by which a user calls the commands: "falafel".
  virtual std::string executable() const = 0;
  // The programs in the descriptions of the commands: "the store".
  virtual std::string noun() const = 0;

  // Adds the options of `fuzz` that determine the scenarios.
  virtual void add_fuzz_options(CLI::App& command) = 0;
  // Adds an option to select a program, if there are several.
  virtual void add_program_option(CLI::App& command) = 0;
  // Adds the options of `ablate` that select a program or its scenarios.
  virtual void add_ablate_options(CLI::App& command) { add_program_option(command); }
  // The program with the options of `fuzz`. An error names an option and its remedy.
  virtual tl::expected<std::unique_ptr<explorer::Program>, std::string> create() const = 0;
  // The selected program, without the options of `fuzz`.
  virtual const explorer::Program& selected() const = 0;
  // The first words of a campaign's report: "hardened protocol".
  virtual std::string title() const = 0;

  // The programs whose replay files the commands accept. At least one.
  virtual std::span<const explorer::Program* const> programs() const = 0;
};

// The program that recorded the file, or the first one if none of them did, so that loading the
// file reports what is wrong.
const explorer::Program& program_of_replay(const CommandProgram& programs, const std::string& path);

}  // namespace falafel::command_line
