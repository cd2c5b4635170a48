// Predictions of Nessie's paper: PUTs take longer than GETs, both grow with the value, and the
// number of RDMA operations is that of the protocol.
#include "tools/benchmarks/figures/nessie_figures.h"

#include <gtest/gtest.h>

namespace falafel::figures {
namespace {

double predicted(const std::vector<PaperComparison>& all, std::string_view quantity) {
  for (const PaperComparison& comparison : all) {
    if (comparison.quantity == quantity) return comparison.predicted;
  }
  ADD_FAILURE() << "no value is called " << quantity;
  return 0;
}

TEST(NessieFigures, PutsAreRoundTripsAndGetsMoveTheValue) {
  const std::vector<PaperComparison> all =
      compare_with_nessie(sim::timing::find_profile("connectx3-10gbe").value());
  EXPECT_EQ(all.size(), 16U);
  EXPECT_NEAR(predicted(all, "RDMA operations per GET, most"), 2, 0.5);
  EXPECT_GE(predicted(all, "RDMA operations per PUT, at least"), 6);
  EXPECT_LT(predicted(all, "RDMA operations per PUT, at least"), 9);
  EXPECT_GT(predicted(all, "GET, us, 8 KiB"), predicted(all, "GET, us, 2 KiB"));
  EXPECT_GT(predicted(all, "GET, us, 32 KiB"), 2 * predicted(all, "GET, us, 8 KiB"));
  // A GET sends the value, a PUT does not.
  EXPECT_NEAR(predicted(all, "KB sent per operation, 32 KiB"), 16, 3);
}

}  // namespace
}  // namespace falafel::figures
