#include "explorer/check/environment.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace falafel::check {
namespace {

std::optional<std::uint64_t> read_number(const std::function<const char*(const char*)>& get,
                                         const char* name, std::uint64_t least,
                                         std::uint64_t most) {
  const char* value = get(name);
  const std::string_view text = value == nullptr ? "" : value;
  if (text.empty()) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || number < least || number > most) {
    throw std::invalid_argument(fmt::format(
        "the environment variable {}=\"{}\" is not a number from {} to {}; correct or unset it",
        name, text, least, most));
  }
  return number;
}

}  // namespace

Environment read_environment(const std::function<const char*(const char*)>& get) {
  constexpr std::uint64_t most_jobs = 1'024;
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  Environment environment;
  environment.seed = read_number(get, "FALAFEL_SEED", 0, any);
  environment.schedules = read_number(get, "FALAFEL_SCHEDULES", 1, any);
  if (const auto jobs = read_number(get, "FALAFEL_JOBS", 1, most_jobs)) {
    environment.jobs = static_cast<unsigned>(*jobs);
  }
  const char* replay = get("FALAFEL_REPLAY");
  if (replay != nullptr) environment.replay = replay;
  return environment;
}

}  // namespace falafel::check
