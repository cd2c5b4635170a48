// Parses the command lines of the project's programs more strictly than CLI11 does, which takes -1
// for a large number, "nan" for a time, and an empty text for a name.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

namespace falafel::command_line {

// Parses the arguments and runs the command. Returns the exit status if it ran none: 0 for --help
// and --version, 2 for wrong usage. Every message names the option. It refuses
// - an unknown command or option, and suggests the nearest one;
// - a whole number that is negative or does not fit 64 bits;
// - a real number that is negative, not finite or over 1e9 (the largest number of seconds that
//   fits into nanoseconds);
// - an empty value of an option.
std::optional<int> parse_arguments(CLI::App& app, int argument_count, char** arguments);

// A size in bytes: a whole number, also with a unit as in 512MiB, in this range.
CLI::Validator size_in_bytes(std::uint64_t least_bytes, std::uint64_t most_bytes);

}  // namespace falafel::command_line
