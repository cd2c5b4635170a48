// Nessie's three versions. Each client's host is a node too, so the tables are spread over all
// clients. In NessieSD and NessieHY, its workers share the host's processor with the client, unless
// the nodes have hosts of their own.
#include "tools/benchmarks/compare_stores/nessie_store.h"

#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "stores/nessie/client.h"
#include "stores/nessie/node.h"

namespace falafel::compare_stores {
namespace {

class NessieClient final : public StoreClient {
 public:
  explicit NessieClient(std::unique_ptr<nessie::Client> client) : client_(std::move(client)) {}

  Reply get(std::span<const std::byte> key, Bytes& value) override {
    nessie::GetResult result = client_->get(key);
    value = std::move(result.value);
    return reply_of(result.answer);
  }
  Reply set(std::span<const std::byte> key, std::span<const std::byte> value) override {
    return reply_of(client_->put(key, value));
  }
  std::uint64_t round_trips() const override { return client_->statistics().round_trips(); }
  // A worker answers a request by a WRITE of its own.
  Counters counters() const override {
    const nessie::OperationStatistics& statistics = client_->statistics();
    return {.requests = statistics.round_trips() + statistics.requests,
            .bytes = statistics.bytes_sent + statistics.bytes_received};
  }

 private:
  std::unique_ptr<nessie::Client> client_;
};

// Entries of a node that wait for their expiry.
std::uint64_t spare_entries_of(const nessie::Options& options, std::uint64_t value_bytes) {
  // In NessieCD, a node's only client replaces an entry in 10 us at best. In NessieHY, all clients
  // replace entries of the node that has the most popular key. Either node copies the value.
  constexpr std::uint64_t bytes_per_ns = 10;
  const std::uint64_t copy_ns = value_bytes / bytes_per_ns;
  constexpr std::uint64_t fastest_put_ns = 10'000;
  constexpr std::uint64_t fastest_put_of_all_clients_ns = 2'500;
  switch (options.architecture) {
    case nessie::Architecture::client_driven:
      return std::bit_ceil(options.expiration_ns / (fastest_put_ns + copy_ns));
    case nessie::Architecture::server_driven: return 0;  // a replaced entry is free at once
    case nessie::Architecture::hybrid:
      return std::bit_ceil(options.expiration_ns / (fastest_put_of_all_clients_ns + copy_ns));
  }
  return 0;
}

class NessieRun final : public StoreRun {
 public:
  // Without nodes of its own, the store has one on the host of each client.
  NessieRun(const Demand& demand, const nessie::Options& options, std::uint32_t own_nodes)
      : options_(options),
        has_own_nodes_(own_nodes > 0),
        nodes_(has_own_nodes_ ? own_nodes : demand.clients) {
    const std::uint64_t spare_entries = spare_entries_of(options, demand.value_bytes);
    const double keys_per_node =
        static_cast<double>(demand.keys) / static_cast<double>(nodes_.size());
    options_.index_entries =
        static_cast<std::uint64_t>(std::ceil(keys_per_node / demand.table_load));
    options_.data_entries =
        static_cast<std::uint64_t>(std::ceil(2 * keys_per_node)) + spare_entries;
    options_.most_key_bytes = demand.key_bytes;
    options_.most_value_bytes = demand.value_bytes;
    if (options_.cache_entries > 0) {
      options_.cache_entries = demand.keys / 200;  // 0.5 % of all keys (4.1.3)
    }
    options_.most_migrations = 64;
    options_.most_clients = demand.clients;
    // To make room for a key, a worker follows one chain of entries, and gives up at a circle. With
    // seed 0, that happens to one of the 50,000 keys of docs/comparison.md.
    if (!options.is_client_driven()) options_.hash_seed = 1;
    options_.acknowledge_timeout_ns = acknowledge_timeout_ns;
    options_.retry_count = retry_count;
  }

  std::string serve(fabric::Host&, const std::function<void()>&) override {
    return "a store without a server has nothing to serve";
  }

  std::string serve_node(fabric::Host& host, std::uint32_t number,
                         const std::function<void()>& started) override {
    return run_node(host, number, started);
  }

  Connected connect(fabric::Host& host, std::uint32_t number) override {
    if (!has_own_nodes_) {
      if (std::string problem = start_node_of_client(host, number); !problem.empty()) {
        return tl::unexpected(problem);
      }
    }
    std::vector<fabric::Address> addresses;
    addresses.reserve(nodes_.size());
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      addresses.push_back({.host = has_own_nodes_ ? node_name(node) : client_name(node),
                           .service = options_.service});
    }
    auto client = has_own_nodes_
                      ? nessie::Client::connect(host, addresses, options_)
                      : nessie::Client::connect(host, *nodes_[number], addresses, options_);
    if (!client) return tl::unexpected(client.error().detail);
    return std::make_unique<NessieClient>(std::move(*client));
  }

  std::uint64_t memory_bytes() const override {
    const nessie::NodeLayout layout(
        options_.index_entries, options_.data_entries,
        nessie::DataEntryLayout(options_.most_key_bytes, options_.most_value_bytes));
    return nodes_.size() * layout.block_bytes();
  }

 private:
  // Waits until the nodes of all clients have started.
  std::string start_node_of_client(fabric::Host& host, std::uint32_t number) {
    constexpr std::uint64_t interval_ns = 10'000;
    host.spawn({.name = "node", .daemon = true}, [this, &host, number] {
      failure_ = run_node(host, number, [this] { ++started_; });
    });
    while (started_ < nodes_.size() && failure_.empty()) {
      host.sleep_until(host.now_ns() + interval_ns);
    }
    return failure_;
  }

  // The node serves until the run ends, because other nodes use its memory.
  std::string run_node(fabric::Host& host, std::uint32_t number,
                       const std::function<void()>& started) {
    const auto node = nessie::Node::start(host, number, nodes_.size(), options_);
    if (!node) return node.error().detail;
    nodes_[number] = node->get();
    started();
    host.sleep_until(fabric::never_ns);
    return {};
  }

  nessie::Options options_;
  bool has_own_nodes_;
  std::vector<nessie::Node*> nodes_;
  std::size_t started_ = 0;
  std::string failure_;
};

constexpr std::uint64_t compared_expiration_ns = 20'000'000;

// As published. The paper does not say what a PUT of NessieCD that gives up does with its entry. If
// it left it there, the key would stay busy, and the table could not even be filled. The messages
// of the other versions need a device that places in address order, and assume one.
nessie::Options published_nessie(nessie::Architecture architecture) {
  nessie::Options options = nessie::Options::published(architecture);
  options.abort = nessie::Abort::restore;
  options.assumes_address_order = true;
  options.expiration_ns = compared_expiration_ns;
  return options;
}

nessie::Options hardened_nessie(nessie::Architecture architecture) {
  nessie::Options options = nessie::Options::hardened(architecture);
  options.expiration_ns = compared_expiration_ns;
  return options;
}

constexpr Finding blocks{"no", "stores/nessie.md#a-put-that-gives-up-blocks-its-key"};
constexpr Finding among_clients_of_nodes{"among clients", "stores/nessie.md#nessiesd-and-nessiehy"};
constexpr Finding attempts{"attempts, not operations", "stores/nessie.md"};
constexpr Finding all_campaigns_held{"held in campaigns", "stores/nessie.md#with-all-safeguards"};
constexpr Finding partial_message{"no", "stores/nessie.md#a-message-that-has-arrived-in-part"};
constexpr std::string_view client_waits_forever = "stores/nessie.md#a-client-that-waits-forever";

struct Version {
  nessie::Architecture architecture{};
  Findings published;
  Findings hardened;
};
constexpr std::array versions{
    Version{.architecture = nessie::Architecture::client_driven,
            .published = {{"no", "stores/nessie.md#a-put-that-gives-up-has-removed-its-key"},
                          blocks,
                          attempts},
            .hardened = {{"held in campaigns", "stores/nessie.md#results"}, blocks, attempts}},
    Version{
        .architecture = nessie::Architecture::server_driven,
        .published = {partial_message, among_clients_of_nodes, {"no", client_waits_forever}},
        .hardened = {all_campaigns_held, among_clients_of_nodes, {"yes", client_waits_forever}}},
    Version{.architecture = nessie::Architecture::hybrid,
            .published = {partial_message, among_clients_of_nodes, {"no", client_waits_forever}},
            .hardened = {all_campaigns_held, among_clients_of_nodes, attempts}},
};

std::string_view store_name(nessie::Architecture architecture) {
  switch (architecture) {
    case nessie::Architecture::client_driven: return "nessie-cd";
    case nessie::Architecture::server_driven: return "nessie-sd";
    case nessie::Architecture::hybrid: return "nessie-hy";
  }
  return "?";
}

}  // namespace

ComparedStore nessie_store(std::string_view protocol, const nessie::Options& options) {
  return {.name = store_name(options.architecture),
          .protocol = protocol,
          .has_server = false,
          .has_workers_at_clients = !options.is_client_driven(),
          .create = [options](const Demand& demand) {
            return std::make_unique<NessieRun>(demand, options, 0);
          }};
}

ComparedStore nessie_store_with_workers(std::string_view protocol, nessie::Options options,
                                        std::uint32_t workers) {
  options.server_workers = 1;
  return {.name = store_name(options.architecture),
          .protocol = protocol,
          .has_server = false,
          .nodes = workers,
          .create = [options, workers](const Demand& demand) {
            return std::make_unique<NessieRun>(demand, options, workers);
          }};
}

std::vector<ComparedStore> nessie_stores() {
  std::vector<ComparedStore> stores;
  for (const Version& version : versions) {
    stores.push_back(nessie_store("published", published_nessie(version.architecture)));
    stores.back().findings = version.published;
    stores.push_back(nessie_store("hardened", hardened_nessie(version.architecture)));
    stores.back().findings = version.hardened;
  }
  return stores;
}

}  // namespace falafel::compare_stores
