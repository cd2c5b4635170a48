#include "simulated_verbs/not_simulated.h"

#include <fmt/format.h>

#include <cstdio>
#include <mutex>
#include <set>

namespace falafel::simulated_verbs {

void report_not_simulated(const std::string& call) {
  // A campaign repeats the call in each of its runs.
  static std::mutex mutex;
  static std::set<std::string> reported;
  const std::lock_guard guard(mutex);
  if (reported.insert(call).second) {
    fmt::print(stderr, "simulated_verbs: {}: not simulated\n", call);
  }
}

}  // namespace falafel::simulated_verbs
