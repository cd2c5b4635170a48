// The report of an acceptance run as one HTML file that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "tools/command_line/acceptance/machine.h"
#include "tools/command_line/acceptance/part_report.h"

namespace falafel::acceptance {

struct AcceptanceReport {
  std::string fabric;
  std::string command;  // as typed
  std::string begun;    // date and time
  double seconds = 0;
  bool is_on_hardware = false;
  std::string own_version;
  std::string other_version;
  Facts own_machine{};
  Facts own_device{};
  std::string other_machine{};  // lines
  std::vector<PartReport> parts{};

  Verdict verdict() const;
};

// One line: what was found, for the top of the page and for the terminal.
std::string summary_of(const AcceptanceReport& report);
std::string to_page(const AcceptanceReport& report);

}  // namespace falafel::acceptance
