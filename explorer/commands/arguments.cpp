#include "explorer/commands/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "falafel_build_identity.h"

namespace falafel::command_line {
namespace {

constexpr int status_wrong_arguments = 2;

// Values

std::string problem_of_whole_number(const std::string& text) {
  const bool is_hexadecimal = text.starts_with("0x");
  const char* const end = text.data() + text.size();
  std::uint64_t number = 0;
  const auto [last, error] = std::from_chars(text.data() + (is_hexadecimal ? 2 : 0), end, number,
                                             is_hexadecimal ? 16 : 10);
  if (error == std::errc::result_out_of_range) return fmt::format("'{}' is too large", text);
  if (error == std::errc() && last == end) return {};
  return fmt::format("'{}' is not a whole number from 0 on", text);
}

std::string problem_of_real_number(const std::string& text) {
  constexpr double largest = 1e9;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  const bool is_number = error == std::errc() && last == end && !std::isnan(number);
  if (is_number && !std::signbit(number) && number <= largest) return {};
  return fmt::format("'{}' is not a number from 0 to 1e9", text);
}

std::string problem_of_text(const std::string& text) {
  return text.empty() ? "the value is empty; leave the option out for its default" : "";
}

// Flags have no value. Positional arguments may be empty, as a value of the store may.
void check_values(CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return;
  const auto add = [&](std::string (*find_problem)(const std::string&)) {
    option.check(CLI::Validator([=](std::string& text) { return find_problem(text); }, ""));
  };
  const std::string type = option.get_type_name();
  if (type.starts_with("UINT")) return add(problem_of_whole_number);
  if (type.starts_with("FLOAT")) return add(problem_of_real_number);
  if (!option.get_positional()) add(problem_of_text);
}

void check_values_of(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) check_values(*option);
  for (CLI::App* const command : app.get_subcommands({})) check_values_of(*command);
}

// Suggestions

// The number of letters to insert, delete or replace (Levenshtein 1966).
std::size_t distance_between(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t line = 0; line < left.size(); ++line) {
    std::size_t diagonal = row[0];
    row[0] = line + 1;
    for (std::size_t column = 0; column < right.size(); ++column) {
      const std::size_t replaced = diagonal + (left[line] == right[column] ? 0 : 1);
      diagonal = row[column + 1];
      row[column + 1] = std::min({replaced, row[column] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// Empty if none is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& names) {
  const auto nearest = std::ranges::min_element(
      names, {}, [&](const std::string& name) { return distance_between(word, name); });
  if (nearest == names.end()) return {};
  const bool is_near =
      distance_between(word, *nearest) <= std::max<std::size_t>(2, word.size() / 2);
  return is_near ? fmt::format("; did you mean '{}'?", *nearest) : std::string();
}

int refuse(std::string_view program, const std::string& message) {
  fmt::print(stderr, "{}: {}\nRun with --help for more information.\n", program, message);
  return status_wrong_arguments;
}

bool is_option(std::string_view word) { return word.starts_with('-'); }

int refuse_option(const CLI::App& app, std::string_view program, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::string name = word.substr(0, word.find('='));
  return refuse(program, fmt::format("there is no option '{}'{}", name, suggestion(name, names)));
}

int refuse_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands({}))
    names.push_back(command->get_name());
  return refuse(app.get_name(),
                fmt::format("there is no command '{}'{}", word, suggestion(word, names)));
}

// Explains the words that CLI11 did not expect, if it can say more than CLI11.
std::optional<int> refuse_unexpected(CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  if (words.empty()) return std::nullopt;
  const std::vector<CLI::App*> commands = app.get_subcommands();
  if (commands.empty()) {
    const std::string& word = words.front();
    return is_option(word) ? refuse_option(app, app.get_name(), word) : refuse_command(app, word);
  }
  const auto option = std::ranges::find_if(words, is_option);
  if (option == words.end()) return std::nullopt;
  const CLI::App& command = *commands.front();
  return refuse_option(command, fmt::format("{} {}", app.get_name(), command.get_name()), *option);
}

// Sizes

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::array units{Unit{"", 1},
                           Unit{"b", 1},
                           Unit{"k", 1'000},
                           Unit{"kb", 1'000},
                           Unit{"m", 1'000'000},
                           Unit{"mb", 1'000'000},
                           Unit{"g", 1'000'000'000},
                           Unit{"gb", 1'000'000'000},
                           Unit{"t", 1'000'000'000'000},
                           Unit{"tb", 1'000'000'000'000},
                           Unit{"ki", std::uint64_t{1} << 10U},
                           Unit{"kib", std::uint64_t{1} << 10U},
                           Unit{"mi", std::uint64_t{1} << 20U},
                           Unit{"mib", std::uint64_t{1} << 20U},
                           Unit{"gi", std::uint64_t{1} << 30U},
                           Unit{"gib", std::uint64_t{1} << 30U},
                           Unit{"ti", std::uint64_t{1} << 40U},
                           Unit{"tib", std::uint64_t{1} << 40U}};

std::optional<std::uint64_t> bytes_of_unit(std::string_view text) {
  std::string name;
  for (const char letter : text.substr(std::min(text.find_first_not_of(' '), text.size()))) {
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  const auto unit = std::ranges::find(units, name, &Unit::name);
  return unit == units.end() ? std::nullopt : std::optional(unit->bytes);
}

// With the largest unit that has no remainder.
std::string describe_size(std::uint64_t bytes) {
  constexpr std::array names{"KiB", "MiB", "GiB", "TiB"};
  std::string text = fmt::format("{}", bytes);
  for (const char* const name : names) {
    if (bytes == 0 || bytes % 1'024 != 0) break;
    bytes /= 1'024;
    text = fmt::format("{}{}", bytes, name);
  }
  return text;
}

}  // namespace

CLI::Validator size_in_bytes(std::uint64_t least_bytes, std::uint64_t most_bytes) {
  const auto convert = [=](std::string& text) -> std::string {
    const char* const end = text.data() + text.size();
    std::uint64_t number = 0;
    const auto [last, error] = std::from_chars(text.data(), end, number);
    const auto unit = bytes_of_unit({last, end});
    const bool is_too_large = error == std::errc::result_out_of_range;
    if ((error != std::errc() && !is_too_large) || !unit) {
      return fmt::format(
          "'{}' is no size; use a whole number of bytes, or one with a unit as in "
          "512MiB",
          text);
    }
    if (is_too_large || number > most_bytes / *unit) {
      return fmt::format("'{}' is too large; use at most {}", text, describe_size(most_bytes));
    }
    if (number * *unit < least_bytes) {
      return fmt::format("'{}' is too small; use at least {}", text, describe_size(least_bytes));
    }
    text = fmt::format("{}", number * *unit);
    return {};
  };
  return {convert, "SIZE"};
}

std::optional<int> parse_arguments(CLI::App& app, int argument_count, char** arguments) {
  if (app.get_name().empty() && argument_count > 0) {
    app.name(std::filesystem::path(arguments[0]).filename().string());
  }
  app.set_version_flag("--version",
                       fmt::format("{} {} (revision {}, {}, {})", app.get_name(), build::version,
                                   build::revision, build::compiler, build::build_type));
  check_values_of(app);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::RequiredError& error) {
    if (const auto refused = refuse_unexpected(app)) return refused;
    app.exit(error);
    return status_wrong_arguments;
  } catch (const CLI::ExtrasError& error) {
    if (const auto refused = refuse_unexpected(app)) return refused;
    app.exit(error);
    return status_wrong_arguments;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : status_wrong_arguments;
  }
  return std::nullopt;
}

}  // namespace falafel::command_line
