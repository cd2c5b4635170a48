// The data table of a node against a plain model: which DTEs are free, and when.
#include "stores/nessie/data_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tests/stores/nessie/bytes.h"
#include "tests/stores/nessie/cluster.h"

namespace falafel::nessie_test {
namespace {

using nessie::DataTable;
using nessie::EntryState;
using nessie::NodeLayout;
using nessie::Options;

constexpr std::uint64_t data_entries = 4;

void with_table(const Options& options, const std::function<void(fabric::Host&, DataTable&)>& use) {
  fabric::FiberStackPool stacks;
  const sim::SimulationOptions simulation_options;
  const auto strategy = sim::make_strategy(simulation_options, 1);
  sim::Simulation simulation(simulation_options, *strategy, stacks);
  simulation.add_host({.name = "node"}, [&](fabric::Host& host) {
    const NodeLayout layout(1, data_entries, {options.most_key_bytes, options.most_value_bytes});
    DataTable table(host, host.allocate_memory(layout.block_bytes()).value(), layout, 0, options);
    use(host, table);
  });
  ASSERT_EQ(simulation.run().outcome, sim::Outcome::completed);
}

// Allocates, uses, marks and waits at random. The assertions are GoogleTest's, because those of
// rapidcheck are exceptions, which must not leave fibers. A marked DTE is free after the expiration
// period, and no sooner; the numbers of allocated ones differ.
struct TableModel {
  fabric::Host& host;
  DataTable& table;
  std::uint64_t expiration_ns;
  std::set<std::uint64_t> held{};
  std::set<std::uint64_t> used{};
  std::map<std::uint64_t, std::uint64_t> marked{};  // by when they are free at the latest
  std::map<std::uint64_t, std::uint64_t> free_not_before{};

  void allocate() {
    const std::uint64_t before_ns = host.now_ns();
    const auto entry = table.allocate();
    const std::size_t taken = held.size() + used.size();
    if (!entry) {
      EXPECT_TRUE(taken + marked.size() == data_entries);
      for (const auto& [index, latest_ns] : marked) {
        EXPECT_TRUE(before_ns <= latest_ns);
      }
      return;
    }
    const std::uint64_t index = *entry % data_entries;
    EXPECT_TRUE(held.insert(*entry).second);
    EXPECT_TRUE(!used.contains(*entry));
    if (marked.erase(index) == 1) {
      EXPECT_TRUE(host.now_ns() >= free_not_before[index]);
    }
  }
  void use_one() {
    const std::uint64_t entry = *held.begin();
    held.erase(entry);
    table.write(entry, 0, bytes_of("key"), bytes_of("value"));
    EXPECT_TRUE(!table.read(entry, true)->header.is_recycled());
    table.use(entry);
    table.set_valid(entry);
    EXPECT_TRUE(table.read(entry, true)->header.is_valid());
    EXPECT_TRUE(text_of(table.read(entry, true)->value) == "value");
    used.insert(entry);
  }
  void give_one_back() {
    table.give_back(*held.begin());
    held.erase(held.begin());
  }
  void mark_one() {
    const std::uint64_t entry = *used.begin();
    used.erase(entry);
    free_not_before[entry % data_entries] = host.now_ns() + expiration_ns;
    table.mark(entry, nessie::valid_flag);
    marked[entry % data_entries] = host.now_ns() + expiration_ns;
    EXPECT_TRUE(table.read(entry, false)->header.is_recycled());
  }
};

RC_GTEST_PROP(DataTableProperty, FreesWhatIsMarkedAndExpired, ()) {
  Options options = small_options();
  options.expiration_ns = 20 * microsecond_ns;
  options.safeguards =
      *rc::gen::element(nessie::Safeguards::published(), nessie::Safeguards::hardened());
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5));
  with_table(options, [&](fabric::Host& host, DataTable& table) {
    TableModel model{host, table, options.expiration_ns};
    for (const int step : steps) {
      if (step == 0) model.allocate();
      if (step == 1 && !model.held.empty()) model.use_one();
      if (step == 2 && !model.held.empty()) model.give_one_back();
      if (step == 3 && !model.used.empty()) model.mark_one();
      if (step == 4) host.sleep_until(host.now_ns() + 7 * microsecond_ns);
    }
  });
}

TEST(DataTable, NumbersEveryUseDifferentlyWithGenerations) {
  Options options = small_options();
  options.safeguards.entry_generations = true;
  with_table(options, [](fabric::Host&, DataTable& table) {
    std::set<std::uint64_t> seen;
    for (int use = 0; use < 20; ++use) {
      const std::uint64_t entry = table.allocate().value();
      EXPECT_TRUE(seen.insert(entry).second);
      table.give_back(entry);
    }
  });
}

TEST(DataTable, TakesTheExpiryOfAnEarlierUseUnlessItIsReset) {
  for (const bool resets : {false, true}) {
    Options options = small_options();
    options.safeguards.expiry_reset = resets;
    with_table(options, [resets](fabric::Host&, DataTable& table) {
      const std::uint64_t entry = table.allocate().value();
      table.write(entry, 0, bytes_of("key"), {});
      table.use(entry);
      EXPECT_EQ(table.read(entry, false)->header.expiry_ns, resets ? fabric::never_ns : 0);
    });
  }
}

}  // namespace
}  // namespace falafel::nessie_test
