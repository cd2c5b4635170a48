#include "stores/swarm/client.h"
#include "stores/swarm/invariants.h"
#include "stores/swarm/node.h"
#include "tests/vm/stores/store.h"

namespace falafel::vm_stores {
namespace {

constexpr std::uint32_t memory_nodes = 3;

swarm::Options swarm_options(const Settings& settings) {
  swarm::Options options;
  options.writers = settings.clients;
  options.buffers_per_writer = settings.operations;
  options.service = settings.service;
  options.acknowledge_timeout_ns = 200 * millisecond_ns;
  return options;
}

class SwarmClient final : public AnyClient {
 public:
  explicit SwarmClient(swarm::Client& client) : client_(client) {}

  stores_test::Found get(std::string_view key) override {
    const swarm::GetResult result = client_.get(fabric::bytes_of(key));
    return {.answer = result.answer, .value = fabric::text_of(result.value)};
  }
  stores::Answer set(std::string_view key, std::string_view value) override {
    return client_.set(fabric::bytes_of(key), fabric::bytes_of(value));
  }
  stores::Answer remove(std::string_view key) override {
    return client_.remove(fabric::bytes_of(key));
  }

 private:
  swarm::Client& client_;
};

// The memory nodes and the node for the index are on one host, with services of their own.
class SwarmStore final : public Store {
 public:
  explicit SwarmStore(const Settings& settings)
      : server_(settings.server), options_(swarm_options(settings)) {}

  Problems serve(fabric::Host& host, const std::function<Problems()>& body) override {
    std::vector<std::unique_ptr<stores::MemoryNode>> nodes;
    std::vector<std::shared_ptr<fabric::MemoryBlock>> memory;
    for (const stores::Member& member : members()) {
      swarm::Options options = options_;
      options.service = member.address.service;
      auto node = swarm::start_node(host, member.incarnation, options);
      if (!node) return {node.error().detail};
      memory.push_back((*node)->memory());
      nodes.push_back(std::move(*node));
    }
    if (Problems problems = body(); !problems.empty()) return problems;
    return swarm::find_problems(memory, options_);
  }

  Problems work(fabric::Host& host, std::uint32_t number,
                const std::function<void(AnyClient&&)>& body) override {
    const auto client = swarm::Client::create(host, number, members(), options_);
    if (!client) return {client.error().detail};
    body(SwarmClient(**client));
    // The last operations may have left something to do.
    host.sleep_until(host.now_ns() + 500 * millisecond_ns);
    if ((*client)->statistics().guessed == 0) return {"no change took one round trip"};
    return {};
  }

  bool says_if_deleted() const override { return false; }

 private:
  std::vector<stores::Member> members() const {
    std::vector<stores::Member> members;
    for (std::uint16_t node = 0; node <= memory_nodes; ++node) {
      members.push_back(
          {.address = {.host = server_,
                       .service = static_cast<std::uint16_t>(options_.service + node)},
           .incarnation = node});
    }
    return members;
  }

  std::string server_;
  swarm::Options options_;
};

}  // namespace

std::unique_ptr<Store> make_swarm(const Settings& settings) {
  return std::make_unique<SwarmStore>(settings);
}

}  // namespace falafel::vm_stores
