// The conformance part: one try of each promise of the contract (fabric/fabric.h) that needs
// another machine. tests/conformance has many more cases, with GoogleTest. The device answers
// these, and an installed program can contain them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tools/command_line/acceptance/part_report.h"
#include "tools/command_line/acceptance/peer.h"

namespace falafel::acceptance {

struct Check {
  std::string name;
  std::string source;
  std::string expected;
  // Returns what was observed, if it is what the rules demand. Throws Mismatch, NotDone, NotTried.
  std::function<std::string(Peer&)> body;
};

std::vector<Check> transfer_checks();
std::vector<Check> atomic_checks();
std::vector<Check> message_checks();
std::vector<Check> posting_checks();
std::vector<Check> access_checks();
std::vector<Check> failure_checks();

// Each check has a session of its own.
Row run_check(fabric::Host& host, const std::string& server, const Check& check);
PartReport run_conformance(fabric::Host& host, const std::string& server);

// Throws Mismatch with the text unless the condition holds.
void demand(bool condition, const std::string& observed);
void demand_status(fabric::CompletionStatus observed, fabric::CompletionStatus expected);
void demand_error(const fabric::Result<void>& observed, fabric::ErrorCode expected);
// The bytes of this side's memory.
std::vector<std::byte> bytes_at(Peer& peer, std::uint64_t offset, std::size_t length_bytes);

}  // namespace falafel::acceptance
