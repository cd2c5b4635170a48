#include "tests/conformance/harness.h"

#include <gtest/gtest.h>

namespace falafel::conformance {
namespace {

template <typename... Arguments>
std::function<void(Arguments...)> guarded(std::function<void(Arguments...)> body) {
  return [body = std::move(body)](Arguments... arguments) {
    try {
      body(arguments...);
    } catch (const RequirementFailed&) {
      // The failure has been recorded. Bodies that wait for this one give up after patience_ns.
    }
  };
}

}  // namespace

void Backend::add_host(const HostDescription& description, HostBody body) {
  add_guarded_host(description, guarded(std::move(body)));
}

void fail_requirement(const std::string& message, std::source_location location) {
  ADD_FAILURE_AT(location.file_name(), static_cast<int>(location.line())) << message;
  throw RequirementFailed{};
}

fabric::FiberId spawn(fabric::Host& host, std::function<void()> body,
                      const fabric::FiberOptions& options) {
  return host.spawn(options, guarded(std::move(body)));
}

}  // namespace falafel::conformance
