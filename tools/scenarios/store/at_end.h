// Runs an action when the scope is left, including by an exception: when a host crashes, its fibers
// are unwound.
#pragma once

#include <functional>
#include <utility>

namespace falafel::store_scenario {

class AtEnd {
 public:
  explicit AtEnd(std::function<void()> action) : action_(std::move(action)) {}
  ~AtEnd() { action_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  std::function<void()> action_;
};

}  // namespace falafel::store_scenario
