// A command of the user: a program of the system with its arguments.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace falafel::simulated_verbs {

struct Executable {
  std::string path;
  std::string loader;              // that the program's file names
  std::vector<std::string> words;  // the command's name, and its arguments
  // The linker has chosen where its memory is, and not the system for each process.
  bool has_fixed_addresses = false;
};

// Splits the command into words as a shell does, with quotes and backslashes and nothing else, and
// finds the program in PATH. Returns an error message that names the command if there is no such
// program, or if it is not one that a loader starts with its libraries.
tl::expected<Executable, std::string> find_executable(std::string_view command);

}  // namespace falafel::simulated_verbs
