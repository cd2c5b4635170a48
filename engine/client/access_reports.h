// Reports of accesses to a cache (engine/layout/access_report.h). One GET in four that finds its
// key is reported. The session sends a report when it has a credit to spare. Until then, further
// accesses are dropped, so nothing waits for a report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "engine/layout/access_report.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class AccessReports {
 public:
  // `on_message` is called when a report is complete.
  AccessReports(fabric::Host& host, std::function<void()> on_message)
      : host_(host), on_message_(std::move(on_message)) {}

  void note(std::uint64_t slot) {
    constexpr std::uint64_t accesses_per_reported_one = 4;
    if (is_complete() || host_.random(accesses_per_reported_one) != 0) return;
    report_.slots[report_.count++] = slot;
    if (is_complete()) on_message_();
  }

  std::optional<ControlMessage> take_message() {
    if (!is_complete()) return std::nullopt;
    return to_message(std::exchange(report_, {}));
  }

 private:
  bool is_complete() const { return report_.count == most_reported_slots; }

  fabric::Host& host_;
  std::function<void()> on_message_;
  AccessReport report_;
};

}  // namespace falafel::engine
