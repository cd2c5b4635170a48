// Wall-clock time, for limits on how long a search may take. Nothing in a run depends on it.
#pragma once

#include <chrono>

namespace falafel::explorer {

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace falafel::explorer
