// How much a test tries. A usual run of the tests tries a tenth of a test's random programs or
// schedules. With the variable FALAFEL_THOROUGH in the environment, as in the tests that
// `tools/test --thorough` adds, it tries all.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace falafel::tests {

inline std::uint64_t usual_share(std::uint64_t all) {
  return std::getenv("FALAFEL_THOROUGH") != nullptr ? all : (all + 9) / 10;
}

}  // namespace falafel::tests
