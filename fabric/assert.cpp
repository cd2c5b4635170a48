#include "fabric/assert.h"

#include <cstdio>
#include <cstdlib>

namespace falafel::fabric {

void assertion_failed(std::string_view condition, std::string_view file, int line,
                      std::string_view state) {
  fmt::print(stderr, "{}:{}: assertion failed: {}\n  {}\n", file, line, condition, state);
  std::fflush(stderr);
  std::abort();
}

}  // namespace falafel::fabric
