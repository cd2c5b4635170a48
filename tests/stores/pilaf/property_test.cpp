// Random operations of clients with keys of their own against plain maps, on random small stores
// and networks, through growth and broken connections.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>

#include "tests/stores/pilaf/store.h"
#include "tests/stores/plain_map.h"

namespace falafel::pilaf_test {
namespace {

StoreOptions draw_store() {
  StoreOptions store;
  pilaf::Options& options = store.options;
  options.table_entries = *rc::gen::element<std::uint64_t>(1, 2, 4, 64);
  options.extents_bytes = *rc::gen::element<std::uint64_t>(64, 512, 8'192);
  options.ways = *rc::gen::inRange(1U, 4U);
  options.max_kicks = *rc::gen::element(1U, 500U);
  options.update =
      *rc::gen::element(pilaf::Update::out_of_place, pilaf::Update::in_place_if_it_fits);
  options.announce =
      *rc::gen::element(pilaf::Announcement::none, pilaf::Announcement::message_first);
  options.receives = *rc::gen::inRange(1U, 4U);
  options.probe_ahead = *rc::gen::inRange(1U, 4U);
  options.gets = *rc::gen::element(pilaf::GetPath::reads, pilaf::GetPath::messages);
  // With deduplication, every change has an answer, so the model knows what is stored.
  options.put_on_reset = pilaf::PutOnReset::send_again;
  options.safeguards = pilaf::Safeguards::hardened();
  store.seed = *rc::gen::arbitrary<std::uint64_t>();
  store.simulation.processor_preemption = *rc::gen::arbitrary<bool>();
  store.simulation.store_buffers = *rc::gen::arbitrary<bool>();
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

RC_GTEST_PROP(Pilaf, AgreesWithPlainMaps, ()) {
  TestStore store(draw_store());
  stores_test::agree_with_plain_maps(store, {.kinds = 5, .keys = 12});
}

}  // namespace
}  // namespace falafel::pilaf_test
