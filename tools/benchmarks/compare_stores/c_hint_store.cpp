// C-Hint. Its memory has room for all keys, so nothing is evicted, and there is no backend.
#include "tools/benchmarks/compare_stores/c_hint_store.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "stores/bytes.h"
#include "stores/c_hint/client.h"
#include "stores/c_hint/layout.h"
#include "stores/c_hint/messages.h"
#include "stores/c_hint/server.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {
namespace {

class CHintClient final : public StoreClient {
 public:
  explicit CHintClient(std::unique_ptr<c_hint::Client> client) : client_(std::move(client)) {}

  Reply get(std::span<const std::byte> key, Bytes& value) override {
    c_hint::GetResult result = client_->get(key);
    value = std::move(result.value);
    return reply_of(result.answer);
  }
  Reply set(std::span<const std::byte> key, std::span<const std::byte> value) override {
    return reply_of(client_->set(key, value).answer);
  }
  std::uint64_t round_trips() const override { return client_->statistics().round_trips; }

 private:
  std::unique_ptr<c_hint::Client> client_;
};

class CHintRun final : public StoreRun {
 public:
  CHintRun(const Demand& demand, const c_hint::Safeguards& safeguards) {
    options_.safeguards = safeguards;
    options_.min_block_bytes =
        std::bit_ceil(c_hint::item_bytes_of(demand.key_bytes, demand.value_bytes));
    options_.items_bytes = std::bit_ceil(demand.keys + 1) * options_.min_block_bytes;
    options_.pointers = demand.keys;
    options_.max_clients = demand.clients + 1;
    options_.largest_message_bytes = static_cast<std::uint32_t>(
        stores::whole_words(sizeof(c_hint::ReplyHeader) + demand.key_bytes + demand.value_bytes));
    options_.largest_message_bytes = std::max(options_.largest_message_bytes, least_message_bytes);
    options_.acknowledge_timeout_ns = acknowledge_timeout_ns;
    options_.retry_count = retry_count;
  }
  c_hint::Options& options() { return options_; }

  std::string serve(fabric::Host& host, const std::function<void()>& started) override {
    const auto server = c_hint::Server::start(host, options_, nullptr);
    if (!server) return server.error().detail;
    started();
    host.sleep_until(fabric::never_ns);
    return "the server has ended";
  }

  Connected connect(fabric::Host& host, std::uint32_t) override {
    auto client = c_hint::Client::connect(
        host, {.host = std::string(server_name), .service = options_.service}, options_);
    if (!client) return tl::unexpected(client.error().detail);
    return std::make_unique<CHintClient>(std::move(*client));
  }

  std::uint64_t memory_bytes() const override { return options_.items_bytes; }

 private:
  static constexpr std::uint32_t least_message_bytes = 128;

  c_hint::Options options_;
};

std::function<std::unique_ptr<StoreRun>(const Demand&)> creator(c_hint::Safeguards safeguards) {
  return
      [safeguards](const Demand& demand) { return std::make_unique<CHintRun>(demand, safeguards); };
}

// Until each client has pointers to most of what it reads.
constexpr std::uint64_t warm_up_ns_per_key = 2'000;

constexpr Finding c_hint_among_clients{"among clients", "stores/c-hint.md"};
constexpr Finding c_hint_bounded{"yes", "stores/c-hint.md"};

}  // namespace

ComparedStore published_c_hint(std::function<void(c_hint::Options&)> adjust) {
  return {.name = "c-hint",
          .protocol = "published",
          .warm_up_ns_per_key = warm_up_ns_per_key,
          .create = [adjust = std::move(adjust)](const Demand& demand) {
            auto run = std::make_unique<CHintRun>(demand, c_hint::Safeguards::published());
            adjust(run->options());
            return run;
          }};
}

std::vector<ComparedStore> c_hint_stores() {
  using c_hint::Safeguards;
  return {
      {.name = "c-hint",
       .protocol = "published",
       .warm_up_ns_per_key = warm_up_ns_per_key,
       .findings = {.linearizable = {"no", "stores/c-hint.md#the-only-copy-is-evicted"},
                    .lock_free = c_hint_among_clients,
                    .bounded = c_hint_bounded},
       .create = creator(Safeguards::published())},
      {.name = "c-hint",
       .protocol = "hardened",
       .warm_up_ns_per_key = warm_up_ns_per_key,
       .findings = {.linearizable = {"held in campaigns", "stores/c-hint.md#results"},
                    .lock_free = c_hint_among_clients,
                    .bounded = c_hint_bounded},
       .create = creator(Safeguards::hardened())},
  };
}

}  // namespace falafel::compare_stores
