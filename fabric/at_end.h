// Runs an action when the scope is left, also when a fiber is unwound because its host crashes.
#pragma once

#include <functional>
#include <utility>

namespace falafel::fabric {

class AtEnd {
 public:
  explicit AtEnd(std::function<void()> action) : action_(std::move(action)) {}
  ~AtEnd() { action_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  std::function<void()> action_;
};

}  // namespace falafel::fabric
