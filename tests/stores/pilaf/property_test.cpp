// Random operations of clients with keys of their own against plain maps, on random small stores
// and networks, through growth and broken connections.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "tests/stores/pilaf/bytes.h"
#include "tests/stores/pilaf/store.h"

namespace falafel::pilaf_test {
namespace {

using pilaf::Answer;
using pilaf::Client;

struct DrawnOperation {
  int kind = 0;  // 0, 1: PUT; 2: GET; 3: DELETE; 4: contains
  int key = 0;
  std::size_t value_bytes = 0;
};

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
      case 3: return remove(key);
      default:
        EXPECT_EQ(client_.contains(bytes_of(key)).answer,
                  model_.contains(key) ? Answer::found : Answer::not_found);
    }
  }
  void get_all() {
    for (int key = 0; key < 12; ++key) run({.kind = 2, .key = key});
  }

 private:
  void put(const std::string& key, const std::string& value) {
    EXPECT_EQ(client_.set(bytes_of(key), bytes_of(value)).answer, Answer::stored);
    model_[key] = value;
  }
  void get(const std::string& key) {
    const auto result = client_.get(bytes_of(key));
    EXPECT_EQ(result.answer, model_.contains(key) ? Answer::found : Answer::not_found);
    EXPECT_EQ(text_of(result.value), model_.contains(key) ? model_.at(key) : "");
  }
  void remove(const std::string& key) {
    EXPECT_EQ(client_.remove(bytes_of(key)).answer,
              model_.erase(key) > 0 ? Answer::deleted : Answer::not_found);
  }

  Client& client_;
  std::size_t number_;
  std::map<std::string, std::string> model_;
};

RC_GTEST_PROP(Pilaf, AgreesWithPlainMaps, ()) {
  TestStore store(draw_store());
  const auto clients = *rc::gen::inRange<std::size_t>(1, 4);
  std::size_t returned = 0;
  for (std::size_t client = 0; client < clients; ++client) {
    const auto operations = *rc::gen::container<std::vector<DrawnOperation>>(rc::gen::exec([] {
      return DrawnOperation{.kind = *rc::gen::inRange(0, 5),
                            .key = *rc::gen::inRange(0, 12),
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
}  // namespace falafel::pilaf_test
