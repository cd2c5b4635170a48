// The examples in headers of client/, engine/, stores/, fabric/ and tools/, and of test stores.
// tools/checks/examples compares them.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/client/client.h"
#include "fabric/fiber_stack.h"
#include "fabric/shm/process.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "falafel/cluster.h"
#include "falafel/metrics.h"
#include "falafel/store.h"
#include "stores/c_hint/client.h"
#include "stores/c_hint/node_cache.h"
#include "stores/pilaf/client.h"
#include "stores/race/client.h"
#include "stores/two_sided/client.h"
#include "tools/server/memcached_front/request_parser.h"

namespace falafel::examples {

void use_a_store(const std::function<void(std::string_view)>& use,
                 const std::function<void(const std::string&)>& reply) {
  auto store = falafel::Store::open({}).value();
  store->set("greeting", "hello");
  const auto result = store->get("greeting");
  if (result.answer == falafel::engine::Answer::found) use(falafel::text_of(result.value));
  const std::vector<falafel::StoreMetrics> metrics{store->metrics()};
  reply(falafel::to_prometheus(metrics));  // as text/plain; version=0.0.4
}

void change_a_value(Store* store, const engine::GetResult& result) {
  using falafel::engine::Condition;
  store->compare_and_set("key", Condition::equals(result.value), "next", std::nullopt);
  store->compare_and_set("key", Condition::absent(), "first", std::nullopt);
}

void count_in_a_store(Store* store) {
  using falafel::engine::Condition;
  for (bool done = false; !done;) {
    const auto found = store->get("counter");
    const bool exists = found.answer == falafel::engine::Answer::found;
    const int next = exists ? 1 + std::stoi(std::string(falafel::text_of(found.value))) : 1;
    const auto condition = exists ? Condition::equals(found.value) : Condition::absent();
    const auto answer =
        store->compare_and_set("counter", condition, std::to_string(next), std::nullopt).answer;
    done = answer != falafel::engine::Answer::differs;  // otherwise stored, or failed
  }
}

void use_a_cluster(const std::vector<std::string_view>& keys) {
  auto cluster = falafel::Cluster::open({.servers = {"10.0.0.1", "10.0.0.2"}}).value();
  cluster->set("greeting", "hello");
  const auto results = cluster->get_many(keys);
  EXPECT_EQ(results.size(), keys.size());
}

void use_the_engine(fabric::Host& host) {
  using namespace engine;
  auto client = Client::connect(host, {.host = "server", .service = 7}, {}).value();
  client->set(bytes_of("greeting"), bytes_of("hello"));
  GetResult result = client->get(bytes_of("greeting"));
  EXPECT_EQ(result.answer, Answer::found);
}

using Bytes = std::span<const std::byte>;

void change_a_value(engine::Client* client, const engine::GetResult& result, Bytes key,
                    Bytes next) {
  using engine::Condition;
  client->compare_and_set(key, Condition::equals(result.value), next, std::nullopt);
}

void use_c_hint(fabric::Host& host, Bytes key, Bytes value) {
  using namespace c_hint;
  auto client = Client::connect(host, {.host = "server", .service = 9}, {}).value();
  client->set(key, value);
  GetResult result = client->get(key);
  EXPECT_TRUE(result.value.size() > 0);
}

void share_pointers_of_c_hint(fabric::Host& host, const fabric::Address& server,
                              const c_hint::Options& options) {
  using namespace c_hint;
  const auto node = std::make_shared<NodeCache>(options);
  auto client = Client::connect(host, server, options, node);
  EXPECT_TRUE(client.has_value());
}

void use_pilaf(fabric::Host& host, Bytes key, Bytes value) {
  using namespace pilaf;
  auto client = Client::connect(host, {.host = "server", .service = 8}, {}).value();
  client->set(key, value);
  GetResult result = client->get(key);
  EXPECT_TRUE(result.value.size() > 0);
}

void use_race(fabric::Host& host, Bytes key, Bytes value) {
  using namespace race;
  auto client = Client::connect(host, {.host = "node", .service = 11}, {}).value();
  client->set(key, value);
  GetResult result = client->get(key);
  EXPECT_TRUE(result.value.size() > 0);
}

void use_the_two_sided_store(fabric::Host& host, Bytes key, Bytes value) {
  using namespace two_sided;
  auto client = Client::connect(host, {.host = "server", .service = 9}, {}).value();
  client->set(key, value);
  GetResult result = client->get(key);
  client->close();
  EXPECT_TRUE(result.value.size() > 0);
}

void use_shared_memory() {
  auto process = shm::Process::create({.directory = "/run/user/1000/falafel"}).value();
  auto host = process->create_host("server").value();
  host->run_program([&] { host->yield(); });
}

void simulate(const sim::SimulationOptions& options, std::uint64_t seed) {
  using namespace sim;
  using fabric::FiberStackPool;
  FiberStackPool stacks;  // kept between runs
  RandomStrategy strategy(seed);
  Simulation simulation(options, strategy, stacks);
  simulation.add_host({.name = "server", .role = Role::server},
                      [](fabric::Host& host) { host.yield(); });
  RunResult result = simulation.run();
  EXPECT_GT(result.steps, 0U);
}

void parse(memcached_front::RequestParser& parser, std::string_view received,
           const std::function<void(const memcached_front::Request&)>& answer) {
  parser.append(received);
  while (auto request = parser.next()) answer(*request);
}

}  // namespace falafel::examples
