// falafel doctor: checks whether this machine is ready for RDMA, and suggests changes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string_view>

#include "fabric/verbs/machine_check.h"
#include "tools/falafel/commands.h"

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

int examine(std::uint64_t memory_mib) {
  int status = 0;
  for (const verbs::Finding& finding : verbs::check_machine(memory_mib << 20U)) {
    fmt::print("{} {}: {}\n", word_for(finding.grade), finding.subject, finding.fact);
    if (!finding.remedy.empty()) fmt::print("        remedy: {}\n", finding.remedy);
    if (finding.grade == verbs::Grade::problem) status = 1;
  }
  return status;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_status) {
  const auto memory_mib = std::make_shared<std::uint64_t>(0);
  CLI::App* command = app.add_subcommand(
      "doctor", "check whether this machine is ready for RDMA, and suggest changes");
  command->add_option("--memory-mib", *memory_mib, "memory of the planned server");
  command->callback([&exit_status, memory_mib] { exit_status = examine(*memory_mib); });
}

}  // namespace falafel::command_line
