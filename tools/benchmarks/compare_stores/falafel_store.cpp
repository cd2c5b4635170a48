// Falafel itself, as published in the thesis and hardened.
#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/client/client.h"
#include "engine/layout/container.h"
#include "engine/server/server.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {
namespace {

Reply falafel_reply(engine::Answer answer) {
  switch (answer) {
    case engine::Answer::found:
    case engine::Answer::stored: return {Outcome::done, to_string(answer)};
    case engine::Answer::not_found: return {Outcome::absent, to_string(answer)};
    default: return {Outcome::failed, to_string(answer)};
  }
}

class FalafelClient final : public StoreClient {
 public:
  explicit FalafelClient(std::unique_ptr<engine::Client> client) : client_(std::move(client)) {}

  Reply get(std::span<const std::byte> key, Bytes& value) override {
    engine::GetResult result = client_->get(key);
    value = std::move(result.value);
    return falafel_reply(result.answer);
  }
  Reply set(std::span<const std::byte> key, std::span<const std::byte> value) override {
    return falafel_reply(client_->set(key, value).answer);
  }
  std::uint64_t round_trips() const override { return client_->statistics().round_trips; }

 private:
  std::unique_ptr<engine::Client> client_;
};

class FalafelRun final : public StoreRun {
 public:
  FalafelRun(const Demand& demand, const engine::Safeguards& safeguards) {
    server_.safeguards = safeguards;
    server_.max_clients = demand.clients + 1;
    server_.acknowledge_timeout_ns = acknowledge_timeout_ns;
    server_.retry_count = retry_count;
    server_.geometry = geometry_for(demand);
    if (safeguards == engine::Safeguards::published()) {
      add_semi_spaces(demand, server_.geometry);
    } else {
      add_blocks(demand, server_.geometry);
    }
    client_.safeguards = safeguards;
    client_.readahead.container_bytes = static_cast<std::uint32_t>(container_bytes(demand));
    client_.acknowledge_timeout_ns = acknowledge_timeout_ns;
    client_.retry_count = retry_count;
  }

  std::string serve(fabric::Host& host, const std::function<void()>& started) override {
    const auto server = engine::Server::start(host, server_);
    if (!server) return server.error().detail;
    started();
    host.sleep_until(fabric::never_ns);
    return "the server has ended";
  }

  Connected connect(fabric::Host& host, std::uint32_t) override {
    auto client = engine::Client::connect(
        host, {.host = std::string(server_name), .service = server_.service}, client_);
    if (!client) return tl::unexpected(client.error().detail);
    return std::make_unique<FalafelClient>(std::move(*client));
  }

  std::uint64_t memory_bytes() const override { return server_.geometry.chunk_bytes(); }

 private:
  static std::uint64_t container_bytes(const Demand& demand) {
    return engine::Geometry{}.round_up_to_unit(
        engine::container_bytes(demand.key_bytes, demand.value_bytes));
  }

  static engine::Geometry geometry_for(const Demand& demand) {
    constexpr std::uint64_t regions_per_client = 4;  // current, next, and two being collected
    constexpr std::uint64_t containers_per_region = 256;
    engine::Geometry geometry;
    geometry.table_entries =
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(demand.keys) / demand.table_load));
    geometry.region_bytes = containers_per_region * container_bytes(demand);
    geometry.region_count = regions_per_client * demand.clients;
    return geometry;
  }

  // As in the thesis: each has room for all keys, for half as much garbage, and for all regions.
  static void add_semi_spaces(const Demand& demand, engine::Geometry& geometry) {
    geometry.mature_bytes =
        geometry.round_up_to_unit(demand.keys * container_bytes(demand) / 2 * 3 +
                                  geometry.region_count * geometry.region_bytes);
  }

  // As `falafel serve` has by default. The keys fill four fifths of the blocks, and there is
  // another for each region.
  static void add_blocks(const Demand& demand, engine::Geometry& geometry) {
    const std::uint64_t data_bytes = demand.keys * container_bytes(demand);
    geometry.mature_bytes = geometry.region_bytes;
    geometry.mature_space_count = static_cast<std::uint32_t>(
        data_bytes / 4 * 5 / geometry.mature_bytes + geometry.region_count + engine::fewest_blocks);
  }

  engine::ServerOptions server_;
  engine::ClientOptions client_;
};

constexpr Finding falafel_among_clients{"among clients", "protocol.md#clients-that-are-gone"};

}  // namespace

std::vector<ComparedStore> falafel_stores() {
  return {
      {.name = "falafel",
       .protocol = "published",
       .findings = {.linearizable = {"no", "findings/published.md"},
                    .lock_free = falafel_among_clients,
                    .bounded = {"no", "findings/without-bounded-walks.md"}},
       .create =
           [](const Demand& demand) {
             return std::make_unique<FalafelRun>(demand, engine::Safeguards::published());
           }},
      {.name = "falafel",
       .protocol = "hardened",
       .findings = {.linearizable = {"held in campaigns and proofs", "fuzzing.md#campaigns"},
                    .lock_free = falafel_among_clients,
                    .bounded = {"yes", "protocol.md#bounds"}},
       .create =
           [](const Demand& demand) {
             return std::make_unique<FalafelRun>(demand, engine::Safeguards::hardened());
           }},
  };
}

}  // namespace falafel::compare_stores
