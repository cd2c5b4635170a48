// The devices of a client's host take turns: one that connects is kept until it fails to.
#pragma once

#include <cstddef>

#include "fabric/error.h"

namespace falafel {

class DeviceRotation {
 public:
  explicit DeviceRotation(std::size_t device_count) : device_count_(device_count) {}

  // Calls connect(index) for each device, starting with the one that connected last, until one
  // succeeds. Returns the error of the last one if none does.
  template <typename Connect>
  fabric::Result<void> connect_by_any(const Connect& connect) {
    fabric::Result<void> connected;
    for (std::size_t tried = 0; tried < device_count_; ++tried) {
      connected = connect(current_);
      if (connected) break;
      current_ = (current_ + 1) % device_count_;
    }
    return connected;
  }

 private:
  std::size_t device_count_;
  std::size_t current_ = 0;
};

}  // namespace falafel
