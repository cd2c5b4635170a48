#include "checkers/call_outline.h"

#include <fmt/format.h>

namespace falafel::checkers {

namespace {

std::string describe_return(const CallOutline& call) {
  if (call.is_refused) return "refused";
  return call.has_answer ? fmt::format("return {}", call.return_time) : "no return";
}

}  // namespace

std::string describe(const CallOutline& call, const std::string& text) {
  return fmt::format("client {}: {} (call {}, {})", call.client, text, call.call_time,
                     describe_return(call));
}

}  // namespace falafel::checkers
