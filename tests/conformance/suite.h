// A test suite that runs on all backends: compiled once and linked with each. Test names have the
// form Backend/AtomicsTest.MisalignedIsRefused/random_word: suite, test, variant of the backend.
#pragma once

#include <gtest/gtest.h>

#include "tests/conformance/harness.h"
#include "tests/conformance/peer.h"

namespace falafel::conformance {

class ConformanceTest : public testing::TestWithParam<VariantPointer> {
 public:
  // Most suites need RC.
  void SetUp() override {
    if (needs_reliable_connection() && !capabilities().reliable_connection) GTEST_SKIP();
  }
  virtual bool needs_reliable_connection() const { return true; }

  Capabilities capabilities() const { return GetParam()->capabilities(); }
  void run(const Program& program) const { GetParam()->run(program); }

  void run_alone(const HostBody& body, std::size_t device_count = 1) const {
    run([&](Backend& backend) {
      backend.add_host({.name = "host", .role = Role::server, .device_count = device_count}, body);
    });
  }

  void run_pairs(const PairOptions& options, const PeerBody& client,
                 const PeerBody& server = nothing,
                 const std::function<void(Site&, Memory&)>& at_end = {}) const {
    run([&](Backend& backend) { add_pairs(backend, options, client, server, at_end); });
  }
};

inline std::string variant_name(const testing::TestParamInfo<VariantPointer>& info) {
  return info.param->name();
}

}  // namespace falafel::conformance

#define FALAFEL_CONFORMANCE_SUITE(Suite)                                                           \
  class Suite : public ConformanceTest {};                                                         \
  INSTANTIATE_TEST_SUITE_P(Backend, Suite, testing::ValuesIn(backend_variants()), variant_name)

// A suite that runs on every backend. Tests of it that need RC ask for that capability.
#define FALAFEL_CONFORMANCE_SUITE_WITHOUT_RC(Suite)                                                \
  class Suite : public ConformanceTest {                                                           \
    bool needs_reliable_connection() const override { return false; }                              \
  };                                                                                               \
  INSTANTIATE_TEST_SUITE_P(Backend, Suite, testing::ValuesIn(backend_variants()), variant_name)
