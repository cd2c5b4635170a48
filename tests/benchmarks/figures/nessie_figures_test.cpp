// Predictions of Nessie's paper: the numbers of RDMA operations are those of the protocols, and
// values travel as often as the paper says.
#include "tools/benchmarks/figures/nessie_figures.h"

#include <gtest/gtest.h>

#include "tests/benchmarks/figures/predicted_value.h"
#include "tools/benchmarks/figures/nessie_load.h"

namespace falafel::figures {
namespace {

using nessie::Architecture;

sim::timing::Profile nessie_card() { return sim::timing::find_profile("connectx3-10gbe").value(); }

TEST(NessieFigures, OperationsAreThoseOfTheProtocols) {
  const std::vector<Figure> figures = predict_nessie_operations(nessie_card());
  EXPECT_EQ(predicted_value(figures, "CD, median of a GET"), 2);
  EXPECT_EQ(predicted_value(figures, "SD, median of a GET"), 2);
  EXPECT_GE(predicted_value(figures, "CD, fewest of a PUT"), 6);
  EXPECT_EQ(predicted_value(figures, "SD, median of a PUT"), 2);
  EXPECT_EQ(predicted_value(figures, "HY, median of a PUT"), 2);
  EXPECT_NEAR(predicted_value(figures, "HY, GETs of two values or more, %"), 20, 8);
  EXPECT_NEAR(predicted_value(figures, "SD, median of a PUT, values"), 1, 0.05);
}

// NessieCD needs more round trips, but a PUT does not send the value.
TEST(NessieFigures, TheClientDrivenStoreGainsWithTheSizeOfTheValue) {
  const auto ratio = [](std::uint64_t value_bytes) {
    NessieLoad load{.value_bytes = value_bytes};
    const double client_driven = measure_nessie(nessie_card(), load).operations_per_second /
                                 nessie_clients_per_machine(load);
    load.architecture = Architecture::server_driven;
    return client_driven / (measure_nessie(nessie_card(), load).operations_per_second /
                            nessie_clients_per_machine(load));
  };
  EXPECT_LT(ratio(2 * 1'024), 1);
  EXPECT_GT(ratio(32 * 1'024), 1);
}

// Figure 4: all clients wait for a worker that has lost its processor.
TEST(NessieFigures, ServedClientsSufferMostFromProcessesOfOthers) {
  const auto kept = [](Architecture architecture) {
    NessieLoad load{
        .architecture = architecture, .gets_percent = 90, .background_threads = std::uint32_t{0}};
    const double alone = measure_nessie(nessie_card(), load).operations_per_second;
    load.background_threads = 12;
    return measure_nessie(nessie_card(), load).operations_per_second / alone;
  };
  const double hybrid = kept(Architecture::hybrid);
  EXPECT_GT(kept(Architecture::client_driven), hybrid + 0.1);
  EXPECT_LT(kept(Architecture::server_driven), hybrid - 0.1);
  EXPECT_LT(kept(Architecture::server_driven), 0.5);
}

}  // namespace
}  // namespace falafel::figures
