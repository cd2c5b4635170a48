#include "tools/command_line/acceptance/conformance.h"

#include <fmt/format.h>

#include <utility>

namespace falafel::acceptance {

Row run_check(fabric::Host& host, const std::string& server, const Check& check) {
  Row row{.name = check.name, .source = check.source, .expected = check.expected, .observed = {}};
  try {
    Peer peer(host, server);
    row.observed = check.body(peer);
    row.verdict = Verdict::held;
  } catch (const Ending& ending) {
    row.observed = ending.shown;
    row.verdict = ending.verdict;
  }
  return row;
}

PartReport run_conformance(fabric::Host& host, const std::string& server) {
  PartReport report{
      .title = "Conformance",
      .about = "Each promise of the fabric's contract, tried once on a connection of its own."};
  const std::uint64_t begin_ns = host.now_ns();
  for (const auto& list : {transfer_checks(), atomic_checks(), message_checks(), posting_checks(),
                           access_checks(), failure_checks()}) {
    for (const Check& check : list) report.rows.push_back(run_check(host, server, check));
  }
  report.seconds = static_cast<double>(host.now_ns() - begin_ns) / 1e9;
  return report;
}

void demand(bool condition, const std::string& observed) {
  if (!condition) throw Mismatch{observed};
}

void demand_status(fabric::CompletionStatus observed, fabric::CompletionStatus expected) {
  demand(observed == expected, fmt::format("completed with: {}", to_string(observed)));
}

void demand_error(const fabric::Result<void>& observed, fabric::ErrorCode expected) {
  demand(!observed, "accepted");
  demand(observed.error().code == expected,
         fmt::format("refused with: {}", to_string(observed.error().code)));
}

std::vector<std::byte> bytes_at(Peer& peer, std::uint64_t offset, std::size_t length_bytes) {
  std::vector<std::byte> bytes(length_bytes);
  peer.memory().read(offset, bytes);
  return bytes;
}

}  // namespace falafel::acceptance
