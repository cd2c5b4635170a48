// Pilaf, and Pilaf-VO, whose GETs are messages too.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "stores/pilaf/client.h"
#include "stores/pilaf/messages.h"
#include "stores/pilaf/server.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {
namespace {

class PilafClient final : public StoreClient {
 public:
  explicit PilafClient(std::unique_ptr<pilaf::Client> client) : client_(std::move(client)) {}

  Reply get(std::span<const std::byte> key, Bytes& value) override {
    pilaf::GetResult result = client_->get(key);
    value = std::move(result.value);
    return reply_of(result.answer);
  }
  Reply set(std::span<const std::byte> key, std::span<const std::byte> value) override {
    return reply_of(client_->set(key, value).answer);
  }
  std::uint64_t round_trips() const override { return client_->statistics().round_trips; }
  Counters counters() const override {
    const pilaf::OperationStatistics& statistics = client_->statistics();
    return {.requests = statistics.verbs,
            .bytes = statistics.bytes_sent + statistics.bytes_received,
            .rereads = statistics.retries()};
  }

 private:
  std::unique_ptr<pilaf::Client> client_;
};

class PilafRun final : public StoreRun {
 public:
  PilafRun(const Demand& demand, pilaf::GetPath gets, const pilaf::Safeguards& safeguards) {
    constexpr std::uint64_t extent_header_bytes = 8;
    const std::uint64_t block_bytes = std::bit_ceil(std::max(
        options_.min_block_bytes, extent_header_bytes + demand.key_bytes + demand.value_bytes));
    options_.safeguards = safeguards;
    options_.gets = gets;
    options_.log = pilaf::Logging::off;  // as in the paper's measurements (5.1)
    options_.table_entries =
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(demand.keys) / demand.table_load));
    options_.extents_bytes = std::bit_ceil((demand.keys + 1) * block_bytes);
    options_.max_clients = demand.clients + 1;
    options_.largest_request_bytes = static_cast<std::uint32_t>(
        sizeof(pilaf::RequestHeader) + demand.key_bytes + demand.value_bytes);
    options_.acknowledge_timeout_ns = acknowledge_timeout_ns;
    options_.retry_count = retry_count;
  }

  std::string serve(fabric::Host& host, const std::function<void()>& started) override {
    const auto server = pilaf::Server::start(host, options_);
    if (!server) return server.error().detail;
    server_ = server->get();
    started();
    host.sleep_until(fabric::never_ns);
    return "the server has ended";
  }

  Connected connect(fabric::Host& host, std::uint32_t) override {
    auto client = pilaf::Client::connect(
        host, {.host = std::string(server_name), .service = options_.service}, options_);
    if (!client) return tl::unexpected(client.error().detail);
    return std::make_unique<PilafClient>(std::move(*client));
  }

  std::uint64_t memory_bytes() const override { return server_->geometry().block_bytes(); }

 private:
  pilaf::Options options_;
  pilaf::Server* server_ = nullptr;
};

std::function<std::unique_ptr<StoreRun>(const Demand&)> creator(pilaf::GetPath gets,
                                                                pilaf::Safeguards safeguards) {
  return [gets, safeguards](const Demand& demand) {
    return std::make_unique<PilafRun>(demand, gets, safeguards);
  };
}

constexpr Finding pilaf_among_clients{"among clients", "stores/pilaf.md"};

}  // namespace

std::vector<ComparedStore> pilaf_stores() {
  using pilaf::GetPath;
  using pilaf::Safeguards;
  return {
      {.name = "pilaf",
       .protocol = "published",
       .findings = {.linearizable = {"no", "stores/pilaf.md#a-key-moves-behind-a-lookup"},
                    .lock_free = pilaf_among_clients,
                    .bounded = {"no", "stores/pilaf.md#a-get-that-never-ends"}},
       .create = creator(GetPath::reads, Safeguards::published())},
      {.name = "pilaf",
       .protocol = "hardened",
       .findings = {.linearizable = {"held in campaigns", "stores/pilaf.md#results"},
                    .lock_free = pilaf_among_clients,
                    .bounded = {"yes", "stores/pilaf.md#a-get-that-never-ends"}},
       .create = creator(GetPath::reads, Safeguards::hardened())},
      {.name = "pilaf-vo",
       .protocol = "published",
       .findings = {.linearizable = {"unless it sends again",
                                     "stores/pilaf.md#a-change-that-is-sent-again"},
                    .lock_free = pilaf_among_clients,
                    .bounded = {"yes", "stores/pilaf.md"}},
       .create = creator(GetPath::messages, Safeguards::published())},
      {.name = "pilaf-vo",
       .protocol = "hardened",
       .findings = {.linearizable = {"held in campaigns", "stores/pilaf.md#results"},
                    .lock_free = pilaf_among_clients,
                    .bounded = {"yes", "stores/pilaf.md"}},
       .create = creator(GetPath::messages, Safeguards::hardened())},
  };
}

}  // namespace falafel::compare_stores
