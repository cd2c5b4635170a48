// SWARM-KV, with three memory nodes and, hardened, a node for its index.
#include <bit>
#include <cmath>
#include <utility>

#include "stores/swarm/client.h"
#include "stores/swarm/layout.h"
#include "stores/swarm/node.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {
namespace {

constexpr std::uint32_t memory_nodes = 3;

std::uint32_t nodes_of(const swarm::Safeguards& safeguards) {
  return memory_nodes + (safeguards.own_index_node ? 1 : 0);
}

class SwarmClient final : public StoreClient {
 public:
  explicit SwarmClient(std::unique_ptr<swarm::Client> client) : client_(std::move(client)) {}

  Reply get(std::span<const std::byte> key, Bytes& value) override {
    swarm::GetResult result = client_->get(key);
    value = std::move(result.value);
    return reply_of(result.answer);
  }
  Reply set(std::span<const std::byte> key, std::span<const std::byte> value) override {
    return reply_of(client_->set(key, value));
  }
  std::uint64_t round_trips() const override { return client_->round_trips(); }

 private:
  std::unique_ptr<swarm::Client> client_;
};

class SwarmRun final : public StoreRun {
 public:
  SwarmRun(const Demand& demand, const swarm::Options& options) : options_(options) {
    // Buffers are never used again: enough of them for 20 ms.
    constexpr std::uint64_t buffers_of_a_run = 16'384;
    constexpr double slots_per_main_bucket = 9;
    const std::uint64_t share = demand.keys / demand.clients + 2;
    options_.writers = demand.clients;
    options_.registers_per_writer = static_cast<std::uint32_t>(share);
    options_.buffers_per_writer = static_cast<std::uint32_t>(share + buffers_of_a_run);
    options_.index_bits = static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(
        static_cast<double>(demand.keys) / demand.table_load / slots_per_main_bucket)));
    options_.key_bytes = static_cast<std::uint32_t>(demand.key_bytes);
    options_.value_bytes = static_cast<std::uint32_t>(demand.value_bytes);
    options_.acknowledge_timeout_ns = acknowledge_timeout_ns;
    options_.retry_count = retry_count;
  }

  std::string serve(fabric::Host&, const std::function<void()>&) override {
    return "a store without a server has nothing to serve";
  }

  std::string serve_node(fabric::Host& host, std::uint32_t number,
                         const std::function<void()>& started) override {
    const auto node = swarm::start_node(host, number, options_);
    if (!node) return node.error().detail;
    started();
    host.sleep_until(fabric::never_ns);
    return {};
  }

  Connected connect(fabric::Host& host, std::uint32_t number) override {
    std::vector<stores::Member> members;
    for (std::uint32_t node = 0; node < nodes_of(options_.safeguards); ++node) {
      members.push_back(
          {.address = {.host = node_name(node), .service = options_.service}, .incarnation = node});
    }
    auto client = swarm::Client::create(host, number, members, options_);
    if (!client) return tl::unexpected(client.error().detail);
    return std::make_unique<SwarmClient>(std::move(*client));
  }

  std::uint64_t memory_bytes() const override {
    return nodes_of(options_.safeguards) * swarm::Layout(options_).memory_bytes();
  }

 private:
  swarm::Options options_;
};

// As in the authors' code, but without two registers for a key and two keys for a register, with
// which the store could not be filled.
swarm::Options published_swarm() {
  swarm::Options options;
  for (const swarm::SafeguardDescription& safeguard : swarm::safeguard_descriptions) {
    options.safeguards.*safeguard.enabled = safeguard.is_published;
  }
  options.safeguards.unique_inserts = true;
  options.safeguards.key_checks = true;
  return options;
}

ComparedStore swarm_store(std::string_view protocol, const swarm::Options& options,
                          const Finding& linearizable) {
  return {.name = "swarm",
          .protocol = protocol,
          .has_server = false,
          .nodes = nodes_of(options.safeguards),
          .findings = {.linearizable = linearizable,
                       .lock_free = {"yes", "stores/swarm.md"},
                       .bounded = {"yes", "stores/swarm.md"}},
          .create = [options](const Demand& demand) {
            return std::make_unique<SwarmRun>(demand, options);
          }};
}

}  // namespace

std::vector<ComparedStore> swarm_stores() {
  return {
      swarm_store("published", published_swarm(), {"no", "stores/swarm.md#results"}),
      swarm_store("hardened", swarm::Options(), {"held in campaigns", "stores/swarm.md#results"})};
}

}  // namespace falafel::compare_stores
