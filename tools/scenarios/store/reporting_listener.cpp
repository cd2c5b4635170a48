#include "tools/scenarios/store/reporting_listener.h"

#include <fmt/format.h>

#include "checkers/memory_view.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

std::string ReportingListener::party(const checkers::Operation& operation) const {
  return operation.client < scenario_.clients.size() ? fmt::format("client {}", operation.client)
                                                     : "at rest";
}

void ReportingListener::on_call(const checkers::Operation& operation) {
  std::string text =
      fmt::format("{} {}", to_string(operation.kind), checkers::quote(operation.key));
  if (operation.kind == checkers::OperationKind::set) {
    text += fmt::format(" to {}", checkers::quote(operation.value));
  }
  listener_.on_call(party(operation), operation.call_time, text);
}

void ReportingListener::on_return(const checkers::Operation& operation, engine::Answer answer) {
  std::string text = fmt::format("{} {} returns: {}", to_string(operation.kind),
                                 checkers::quote(operation.key), engine::to_string(answer));
  if (answer == engine::Answer::found) {
    text += fmt::format(" {}", checkers::quote(operation.value));
  }
  listener_.on_return(party(operation), operation.call_time, text);
}

}  // namespace falafel::store_scenario
