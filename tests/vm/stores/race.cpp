#include "stores/race/client.h"
#include "stores/race/invariants.h"
#include "stores/race/memory_node.h"
#include "tests/vm/stores/store.h"

namespace falafel::vm_stores {
namespace {

// Subtables are split while the clients work.
race::Options race_options(const Settings& settings) {
  race::Options options;
  options.safeguards = race::Safeguards::hardened();
  options.block_reuse = race::BlockReuse::at_once;
  options.groups_per_subtable = 1;
  options.slots_per_bucket = 2;
  options.fingerprint_bits = 1;
  options.initial_depth = 0;
  options.heap_bytes = 1 << 20;
  options.segment_bytes = 8'192;
  options.service = settings.service;
  options.max_clients = settings.clients;
  options.check_interval_ns = 100 * millisecond_ns;
  options.acknowledge_timeout_ns = 200 * millisecond_ns;
  return options;
}

class RaceStore final : public Store {
 public:
  explicit RaceStore(const Settings& settings)
      : address_{.host = settings.server, .service = settings.service},
        options_(race_options(settings)) {}

  Problems serve(fabric::Host& host, const std::function<Problems()>& body) override {
    const auto node = race::MemoryNode::start(host, options_);
    if (!node) return {node.error().detail};
    if (Problems problems = body(); !problems.empty()) return problems;
    return race::find_problems((*node)->inspect());
  }

  Problems work(fabric::Host& host, std::uint32_t /*number*/,
                const std::function<void(AnyClient&&)>& body) override {
    const auto client = race::Client::connect(host, address_, options_);
    if (!client) return {client.error().detail};
    body(stores_test::ServedClient(**client));
    return {};
  }

 private:
  fabric::Address address_;
  race::Options options_;
};

}  // namespace

std::unique_ptr<Store> make_race(const Settings& settings) {
  return std::make_unique<RaceStore>(settings);
}

}  // namespace falafel::vm_stores
