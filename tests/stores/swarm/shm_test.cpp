// SWARM-KV on shared memory, with real threads: each of three hosts is a memory node and has a
// client. Their histories on few keys are linearizable, and the memory is in order at the end.
#include <utility>
#include <vector>

#include "fabric/text.h"
#include "stores/swarm/client.h"
#include "stores/swarm/invariants.h"
#include "stores/swarm/node.h"
#include "tests/stores/load/shared_memory.h"

namespace falafel::swarm_test {
namespace {

using stores_test::Answer;
using stores_test::millisecond_ns;
using swarm::Client;

class AnySwarmClient final : public stores_test::AnyClient {
 public:
  explicit AnySwarmClient(Client& client) : client_(client) {}

  stores_test::Found get(std::string_view key) override {
    const swarm::GetResult result = client_.get(fabric::bytes_of(key));
    return {.answer = result.answer, .value = fabric::text_of(result.value)};
  }
  Answer set(std::string_view key, std::string_view value) override {
    return client_.set(fabric::bytes_of(key), fabric::bytes_of(value));
  }
  Answer remove(std::string_view key) override { return client_.remove(fabric::bytes_of(key)); }

 private:
  Client& client_;
};

swarm::Options small_options() {
  swarm::Options options;
  options.safeguards.own_index_node = false;
  options.writers = 3;
  options.registers_per_writer = 8;
  options.buffers_per_writer = 4'096;
  options.key_bytes = 8;
  options.value_bytes = 64;
  options.acknowledge_timeout_ns = 10 * millisecond_ns;
  return options;
}

class SwarmOnSharedMemory : public stores_test::SharedMemory {
 protected:
  void run(const swarm::Options& options) {
    memory_.resize(clients);
    load_.keys = 2;
    load_.deletes = false;  // they do not say whether they have removed something
    run_peers([&](fabric::Host& host, std::uint32_t number) { work(host, options, number); });
  }

  void work(fabric::Host& host, const swarm::Options& options, std::uint32_t number) {
    const auto node = swarm::start_node(host, number, options).value();
    std::vector<stores::Member> members;
    for (std::uint32_t peer = 0; peer < clients; ++peer) {
      members.push_back(
          {.address = {.host = "peer-" + std::to_string(peer), .service = options.service},
           .incarnation = peer});
    }
    meet(host);
    {
      const auto client = Client::create(host, number, members, options).value();
      operate(host, AnySwarmClient(*client), number);
      // The last operations may have left something to do.
      host.sleep_until(host.now_ns() + 50 * millisecond_ns);
      const std::lock_guard lock(mutex_);
      guessed_ += client->statistics().guessed;
      in_place_ += client->statistics().in_place;
      overtaken_ += client->statistics().overtaken;
    }
    memory_[number] = node->memory();
    meet(host);
    if (number == 0) {
      EXPECT_EQ(swarm::find_problems(memory_, options), std::vector<std::string>());
    }
    meet(host);
  }

  std::vector<std::shared_ptr<fabric::MemoryBlock>> memory_;
  std::uint64_t guessed_ = 0;
  std::uint64_t in_place_ = 0;
  std::uint64_t overtaken_ = 0;
};

TEST_F(SwarmOnSharedMemory, OperationsAreLinearizable) {
  run(small_options());
  EXPECT_GT(guessed_, 0U);
  EXPECT_GT(in_place_, 0U);
}

TEST_F(SwarmOnSharedMemory, OperationsWithStaleGuessesAreLinearizable) {
  swarm::Options options = small_options();
  options.tick_ns = 1'000'000'000;  // timestamps follow from what clients have seen
  options.contacts = swarm::Contacts::all;
  run(options);
  EXPECT_GT(overtaken_, 0U);
}

}  // namespace
}  // namespace falafel::swarm_test
