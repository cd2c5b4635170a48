#include "tools/command_line/acceptance/whereabouts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

namespace falafel::acceptance {
namespace {

constexpr std::size_t most_functions = 8;

std::string first_line_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string state_in(const std::filesystem::path& status) {
  std::ifstream file(status);
  const std::string begin = "State:\t";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(begin)) return line.substr(begin.size());
  }
  return "gone";
}

// A line is `[<0>] do_epoll_wait+0x6a0/0x7f0`.
std::vector<std::string> functions_in(const std::filesystem::path& stack) {
  std::ifstream file(stack);
  std::vector<std::string> functions;
  for (std::string line; functions.size() < most_functions && std::getline(file, line);) {
    const std::size_t begin = line.find(' ') + 1;  // npos + 1 is 0
    functions.push_back(line.substr(begin, line.find('+', begin) - begin));
  }
  return functions;
}

std::string whereabouts_of_thread(const std::filesystem::path& thread) {
  std::vector<std::string> functions = functions_in(thread / "stack");
  if (functions.empty()) functions.push_back(first_line_of(thread / "wchan"));
  return fmt::format("thread {} '{}' {} in {}", thread.filename().string(),
                     first_line_of(thread / "comm"), state_in(thread / "status"),
                     fmt::join(functions, " < "));
}

std::string describe(const Record& record, std::uint64_t now_ns) {
  const std::uint64_t age_ns = now_ns - std::min(record.call_ns, now_ns);
  return fmt::format("{} of key {} since {:.1f} s", checkers::to_string(record.kind), record.key,
                     static_cast<double>(age_ns) / 1e9);
}

}  // namespace

std::string whereabouts_of(pid_t process) {
  std::vector<std::string> threads;
  std::error_code error;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", process);
  for (const auto& entry : std::filesystem::directory_iterator(tasks, error))
    threads.push_back(whereabouts_of_thread(entry.path()));
  std::ranges::sort(threads);
  if (threads.empty()) return fmt::format("process {} is gone", process);
  return fmt::format("process {}: {}", process, fmt::join(threads, "; "));
}

std::string whereabouts_of(const Log& log, std::uint64_t now_ns) {
  if (!log.is_connected) return "it is connecting";
  std::vector<std::string> pending;
  for (std::uint32_t number = 0; number < log.size; ++number) {
    const Record& record = log.records.at(number);
    if (!record.has_returned) pending.push_back(describe(record, now_ns));
  }
  const char* const doing = log.end_ns == 0 ? "it is connected and works"
                            : log.has_lost  ? "its connection broke, and it ends"
                                            : "it has ended its work and disconnects";
  return fmt::format("{}; {} operations were begun, {} have no answer{}{}", doing, log.size.load(),
                     pending.size(), pending.empty() ? "" : ": ", fmt::join(pending, ", "));
}

}  // namespace falafel::acceptance
