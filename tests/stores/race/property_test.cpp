// Random operations of clients with keys of their own against plain maps, on random small tables
// and networks, through broken connections.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>

#include "tests/stores/plain_map.h"
#include "tests/stores/race/store.h"

namespace falafel::race_test {
namespace {

StoreOptions draw_store() {
  StoreOptions store;
  race::Options& options = store.options;
  options.groups_per_subtable = *rc::gen::element<std::uint64_t>(1, 4, 16);
  options.slots_per_bucket = *rc::gen::inRange(1U, 8U);
  options.fingerprint_bits = *rc::gen::element(0U, 1U, 8U);
  options.initial_depth = *rc::gen::inRange(0U, 3U);
  options.segment_bytes = *rc::gen::element(512U, 4'096U);
  options.kept_copy = *rc::gen::element(race::KeptCopy::lowest_slot, race::KeptCopy::highest_slot);
  options.slot_order =
      *rc::gen::element(race::SlotOrder::main_first, race::SlotOrder::overflow_first);
  options.safeguards = race::Safeguards::hardened();
  options.block_reuse = race::BlockReuse::at_once;
  store.seed = *rc::gen::arbitrary<std::uint64_t>();
  store.simulation.mtu_bytes = *rc::gen::element<std::uint64_t>(256, 4'096);
  store.simulation.longest_stall_ns = 50 * microsecond_ns;
  store.simulation.step_limit = 3'000'000;
  const auto rate = rc::gen::element<std::uint64_t>(0, 0, 300, 2'000);
  for (const sim::FaultKind kind :
       {sim::FaultKind::message_delay, sim::FaultKind::late_packets, sim::FaultKind::client_pause,
        sim::FaultKind::server_stall, sim::FaultKind::queue_pair_error}) {
    store.simulation.set_fault_rate(kind, *rate);
  }
  return store;
}

RC_GTEST_PROP(Race, AgreesWithPlainMaps, ()) {
  TestStore store(draw_store());
  stores_test::agree_with_plain_maps(
      store, {.keys = 6, .excuses = stores_test::Excuses::full_busy_or_unknown});
}

}  // namespace
}  // namespace falafel::race_test
