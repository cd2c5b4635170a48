// falafel doctor: checks whether this machine is ready for RDMA, and suggests changes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/time_bounds.h"
#include "fabric/verbs/cards.h"
#include "fabric/verbs/machine_check.h"
#include "tools/command_line/commands.h"

namespace falafel::command_line {
namespace {

std::string_view word_for(verbs::Grade grade) {
  switch (grade) {
    case verbs::Grade::good: return "ok     ";
    case verbs::Grade::advice: return "advice ";
    case verbs::Grade::problem: break;
  }
  return "PROBLEM";
}

struct DoctorTexts {
  std::uint64_t memory_mib = 0;
  std::uint32_t clients = 64;
  bool cards = false;
  bool detection = false;
};

// docs/deploy.md contains this table.
void print_cards() {
  fmt::print("| Cards | Driver | RC | Atomics | Source |\n| --- | --- | --- | --- | --- |\n");
  for (const verbs::Card& card : verbs::known_cards()) {
    fmt::print("| {} | `{}` | {} | {} | {} |\n", card.cards, card.driver, card.connections,
               card.atomics, card.source);
  }
}

// Returns whether none of them is a problem.
bool print(const std::vector<verbs::Finding>& findings) {
  bool is_ready = true;
  for (const verbs::Finding& finding : findings) {
    fmt::print("{} {}: {}\n", word_for(finding.grade), finding.subject, finding.fact);
    if (!finding.remedy.empty()) fmt::print("        remedy: {}\n", finding.remedy);
    if (finding.grade == verbs::Grade::problem) is_ready = false;
  }
  return is_ready;
}

int examine(const DoctorTexts& texts) {
  if (texts.cards) {
    print_cards();
    return 0;
  }
  bool is_ready = print(
      verbs::check_machine({.memory_bytes = texts.memory_mib << 20U, .clients = texts.clients}));
  if (texts.detection) {
    std::fflush(stdout);  // the measurement takes seconds
    is_ready = print(verbs::check_detection(engine::detection_bound_ns)) && is_ready;
  }
  return is_ready ? 0 : 1;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_status) {
  const auto texts = std::make_shared<DoctorTexts>();
  CLI::App* command = app.add_subcommand(
      "doctor", "check whether this machine is ready for RDMA, and suggest changes");
  command->add_option("--memory-mib", texts->memory_mib, "memory of the planned server")
      ->check(CLI::Range(0, 256 << 10));
  command->add_option("--clients", texts->clients, "maximum number of clients of that server")
      ->check(CLI::Range(1, 65'535))
      ->capture_default_str();
  command->add_flag("--cards", texts->cards,
                    "only print which network cards have what the store needs");
  command->add_flag(
      "--measure-detection", texts->detection,
      "also measure how long each port takes to notice that a peer is gone (seconds)");
  command->callback([&exit_status, texts] { exit_status = examine(*texts); });
}

}  // namespace falafel::command_line
