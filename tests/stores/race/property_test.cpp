// Random operations of clients with keys of their own against plain maps, on random small tables
// and networks, through broken connections.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/stores/bytes.h"
#include "tests/stores/race/store.h"

namespace falafel::race_test {
namespace {

using race::Answer;
using race::Client;
using stores_test::bytes_of;
using stores_test::text_of;

struct DrawnOperation {
  int kind = 0;  // 0, 1: PUT; 2: GET; 3: DELETE
  int key = 0;
  std::size_t value_bytes = 0;
};

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

// After an unknown outcome, a key may hold either state, and its CAS may still happen later, so the
// model says nothing about it any more.
class Worker {
 public:
  Worker(Client& client, std::size_t number) : client_(client), number_(number) {}

  void run(const DrawnOperation& operation) {
    const std::string key =
        "client " + std::to_string(number_) + " key " + std::to_string(operation.key);
    switch (operation.kind) {
      case 0:
      case 1: return put(key, std::string(operation.value_bytes, 'v'));
      case 2: return get(key);
      default: return remove(key);
    }
  }
  void get_all() {
    for (int key = 0; key < 6; ++key) run({.kind = 2, .key = key});
  }

 private:
  void put(const std::string& key, const std::string& value) {
    const Answer answer = client_.set(bytes_of(key), bytes_of(value)).answer;
    if (answer == Answer::unknown_outcome) {
      in_doubt_.insert(key);
    } else if (answer != Answer::table_full && answer != Answer::busy) {
      EXPECT_EQ(answer, Answer::stored);
      model_[key] = value;
    }
  }
  void get(const std::string& key) {
    const auto result = client_.get(bytes_of(key));
    if (in_doubt_.contains(key)) return;
    EXPECT_EQ(result.answer, model_.contains(key) ? Answer::found : Answer::not_found);
    EXPECT_EQ(text_of(result.value), model_.contains(key) ? model_.at(key) : "");
  }
  void remove(const std::string& key) {
    const Answer answer = client_.remove(bytes_of(key)).answer;
    if (answer == Answer::unknown_outcome) in_doubt_.insert(key);
    if (!in_doubt_.contains(key)) {
      EXPECT_EQ(answer, model_.contains(key) ? Answer::deleted : Answer::not_found);
    }
    model_.erase(key);
  }

  Client& client_;
  std::size_t number_;
  std::map<std::string, std::string> model_;
  std::set<std::string> in_doubt_;
};

RC_GTEST_PROP(Race, AgreesWithPlainMaps, ()) {
  TestStore store(draw_store());
  const auto clients = *rc::gen::inRange<std::size_t>(1, 4);
  std::size_t returned = 0;
  for (std::size_t client = 0; client < clients; ++client) {
    const auto operations = *rc::gen::container<std::vector<DrawnOperation>>(rc::gen::exec([] {
      return DrawnOperation{.kind = *rc::gen::inRange(0, 4),
                            .key = *rc::gen::inRange(0, 6),
                            .value_bytes = *rc::gen::inRange<std::size_t>(0, 400)};
    }));
    store.add_client([operations, client, &returned](fabric::Host&, Client& connected) {
      Worker worker(connected, client);
      for (const DrawnOperation& operation : operations) worker.run(operation);
      worker.get_all();
      ++returned;
    });
  }
  const StoreRun run = store.run();
  RC_ASSERT(run.problems == std::vector<std::string>());
  RC_ASSERT(returned == clients);
  RC_ASSERT(!testing::Test::HasFailure());
}

}  // namespace
}  // namespace falafel::race_test
