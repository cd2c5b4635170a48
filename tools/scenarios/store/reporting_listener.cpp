#include "tools/scenarios/store/reporting_listener.h"

#include <fmt/format.h>

#include "checkers/memory_view.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

std::string ReportingListener::party(std::uint32_t client) const {
  return client < scenario_.clients.size() ? fmt::format("client {}", client) : "at rest";
}

void ReportingListener::on_call(const checkers::Operation& operation) {
  std::string text =
      fmt::format("{} {}", to_string(operation.kind), checkers::quote(operation.key));
  if (operation.kind == checkers::OperationKind::set) {
    text += fmt::format(" to {}", checkers::quote(operation.value));
  }
  listener_.on_call(party(operation.client), operation.call_time, text);
}

void ReportingListener::on_return(const checkers::Operation& operation, engine::Answer answer) {
  std::string text = fmt::format("{} {} returns: {}", to_string(operation.kind),
                                 checkers::quote(operation.key), engine::to_string(answer));
  if (answer == engine::Answer::found) {
    text += fmt::format(" {}", checkers::quote(operation.value));
  }
  listener_.on_return(party(operation.client), operation.call_time, text);
}

void ReportingListener::on_scan_called(const checkers::KeyScan& scan) {
  listener_.on_call(party(scan.client), scan.call_time, "scan of all keys");
}

void ReportingListener::on_scan_returned(const checkers::KeyScan& scan, engine::Answer answer) {
  std::string text = fmt::format(
      "scan of all keys returns: {} after {} visits",
      answer == engine::Answer::found ? "complete" : engine::to_string(answer), scan.visits.size());
  for (const checkers::KeyVisit& visit : scan.visits) {
    text += fmt::format(", {} with {}", checkers::quote(visit.key), checkers::quote(visit.value));
  }
  listener_.on_return(party(scan.client), scan.call_time, text);
}

}  // namespace falafel::store_scenario
