// RACE hashing, whose clients do everything but the allocation of segments.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "stores/race/client.h"
#include "stores/race/layout.h"
#include "stores/race/memory_node.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {
namespace {

class RaceClient final : public StoreClient {
 public:
  explicit RaceClient(std::unique_ptr<race::Client> client) : client_(std::move(client)) {}

  Reply get(std::span<const std::byte> key, Bytes& value) override {
    race::GetResult result = client_->get(key);
    value = std::move(result.value);
    return reply_of(result.answer);
  }
  Reply set(std::span<const std::byte> key, std::span<const std::byte> value) override {
    return reply_of(client_->set(key, value).answer);
  }
  std::uint64_t round_trips() const override { return client_->statistics().round_trips; }
  Counters counters() const override {
    const race::OperationStatistics& statistics = client_->statistics();
    return {.requests = statistics.verbs,
            .bytes = statistics.bytes_sent + statistics.bytes_received,
            .rereads = statistics.block_retries};
  }

 private:
  std::unique_ptr<race::Client> client_;
};

// Blocks per key of a store that never uses a block again.
constexpr std::uint64_t blocks_per_key = 9;

// A table that holds all keys from the start.
race::Options options_for(const Demand& demand, const race::Safeguards& safeguards) {
  race::Options options;
  options.safeguards = safeguards;
  // As SMART and SepHash, which follow the paper, the published store never frees a block.
  const bool reuses = safeguards.block_tags;
  options.block_reuse = reuses ? race::BlockReuse::at_once : race::BlockReuse::never;
  const std::uint64_t block_bytes =
      race::units_of(race::block_bytes_of(demand.key_bytes, demand.value_bytes)) * race::unit_bytes;
  const double slots = static_cast<double>(demand.keys) / demand.table_load;
  const std::uint64_t subtables = std::uint64_t{1} << options.initial_depth;
  options.groups_per_subtable = static_cast<std::uint64_t>(std::ceil(
      slots / static_cast<double>(subtables * race::buckets_per_group * options.slots_per_bucket)));
  options.segment_bytes =
      static_cast<std::uint32_t>(std::bit_ceil(std::max<std::uint64_t>(4'096, 16 * block_bytes)));
  options.most_block_bytes = static_cast<std::uint32_t>(block_bytes);
  const race::SubtableLayout subtable(options.groups_per_subtable, options.slots_per_bucket);
  const std::uint64_t clients = demand.clients + 1;
  options.heap_bytes =
      std::bit_ceil(subtables * std::bit_ceil(subtable.bytes()) +
                    (demand.keys * (reuses ? 1 : blocks_per_key) + clients) * block_bytes +
                    2 * clients * options.segment_bytes);
  options.max_clients = static_cast<std::uint32_t>(clients);
  options.acknowledge_timeout_ns = acknowledge_timeout_ns;
  options.retry_count = retry_count;
  return options;
}

class RaceRun final : public StoreRun {
 public:
  RaceRun(const Demand& demand, const race::Safeguards& safeguards)
      : options_(options_for(demand, safeguards)) {}

  std::string serve(fabric::Host& host, const std::function<void()>& started) override {
    const auto node = race::MemoryNode::start(host, options_);
    if (!node) return node.error().detail;
    node_ = node->get();
    started();
    host.sleep_until(fabric::never_ns);
    return "the memory node has ended";
  }

  Connected connect(fabric::Host& host, std::uint32_t) override {
    auto client = race::Client::connect(
        host, {.host = std::string(server_name), .service = options_.service}, options_);
    if (!client) return tl::unexpected(client.error().detail);
    return std::make_unique<RaceClient>(std::move(*client));
  }

  std::uint64_t memory_bytes() const override { return node_->geometry().block_bytes(); }

 private:
  race::Options options_;
  race::MemoryNode* node_ = nullptr;
};

std::function<std::unique_ptr<StoreRun>(const Demand&)> creator(race::Safeguards safeguards) {
  return
      [safeguards](const Demand& demand) { return std::make_unique<RaceRun>(demand, safeguards); };
}

}  // namespace

std::vector<ComparedStore> race_stores() {
  using race::Safeguards;
  return {
      {.name = "race",
       .protocol = "published",
       .findings = {.linearizable = {"no", "stores/race.md#a-copy-is-visible-before-it-stays"},
                    .lock_free = {"except splits",
                                  "stores/race.md#a-client-that-dies-while-it-splits"},
                    .bounded = {"no", "stores/race.md#operations-that-start-over"}},
       .create = creator(Safeguards::published())},
      {.name = "race",
       .protocol = "hardened",
       .findings = {.linearizable = {"held in campaigns", "stores/race.md#results"},
                    .lock_free = {"after a wait",
                                  "stores/race.md#a-client-that-dies-while-it-splits"},
                    .bounded = {"no", "stores/race.md#operations-that-start-over"}},
       .create = creator(Safeguards::hardened())},
  };
}

}  // namespace falafel::compare_stores
