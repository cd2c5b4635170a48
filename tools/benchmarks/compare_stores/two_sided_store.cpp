// Troost's two-sided store on RC, UC, UD and TCP.
#include <algorithm>
#include <cmath>
#include <utility>

#include "stores/two_sided/client.h"
#include "stores/two_sided/server.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {
namespace {

using fabric::Transport;

class TwoSidedClient final : public StoreClient {
 public:
  explicit TwoSidedClient(std::unique_ptr<two_sided::Client> client) : client_(std::move(client)) {}

  Reply get(std::span<const std::byte> key, Bytes& value) override {
    two_sided::GetResult result = client_->get(key);
    value = std::move(result.value);
    return reply_of(result.answer);
  }
  Reply set(std::span<const std::byte> key, std::span<const std::byte> value) override {
    return reply_of(client_->set(key, value).answer);
  }
  std::uint64_t round_trips() const override { return client_->statistics().round_trips; }

 private:
  std::unique_ptr<two_sided::Client> client_;
};

// Threads wait for completions instead of polling: in a timed run both take the same time, unless
// hosts share processors.
class TwoSidedRun final : public StoreRun {
 public:
  TwoSidedRun(const Demand& demand, const two_sided::Options& options) : options_(options) {
    options_.waiting = two_sided::Waiting::blocking;
    options_.buckets =
        static_cast<std::uint32_t>(std::ceil(static_cast<double>(demand.keys) / demand.table_load));
    options_.max_clients = demand.clients + 1;
    options_.acknowledge_timeout_ns = acknowledge_timeout_ns;
    options_.retry_count = retry_count;
  }

  std::string serve(fabric::Host& host, const std::function<void()>& started) override {
    const auto server = two_sided::Server::start(host, options_);
    if (!server) return server.error().detail;
    server_ = server->get();
    started();
    host.sleep_until(fabric::never_ns);
    return "the server has ended";
  }

  Connected connect(fabric::Host& host, std::uint32_t) override {
    auto client = two_sided::Client::connect(
        host, {.host = std::string(server_name), .service = options_.service}, options_);
    if (!client) return tl::unexpected(client.error().detail);
    return std::make_unique<TwoSidedClient>(std::move(*client));
  }

  // The table is not registered.
  std::uint64_t memory_bytes() const override { return server_->statistics().table_bytes; }

 private:
  two_sided::Options options_;
  two_sided::Server* server_ = nullptr;
};

constexpr Finding held{"held in campaigns", "stores/two-sided.md#results"};
constexpr Finding fails{"no", "stores/two-sided.md#a-key-that-begins-with-another"};
constexpr Finding among_clients{"among clients", "stores/two-sided.md#what-no-safeguard-repairs"};
constexpr std::string_view waits_forever = "stores/two-sided.md#a-client-that-waits-forever";

ComparedStore two_sided_store(std::string_view name, Transport transport, bool is_hardened) {
  return {.name = name,
          .protocol = is_hardened ? "hardened" : "published",
          .findings = {.linearizable = is_hardened ? held : fails,
                       .lock_free = among_clients,
                       .bounded = {is_hardened ? "yes" : "no", waits_forever}},
          .create = [transport, is_hardened](const Demand& demand) {
            two_sided::Options options = two_sided::published_options(transport);
            if (is_hardened) options.safeguards = two_sided::Safeguards::hardened();
            return std::make_unique<TwoSidedRun>(demand, options);
          }};
}

}  // namespace

std::vector<ComparedStore> two_sided_stores() {
  return {two_sided_store("two-sided-rc", Transport::reliable_connection, false),
          two_sided_store("two-sided-rc", Transport::reliable_connection, true),
          two_sided_store("two-sided-uc", Transport::unreliable_connection, false),
          two_sided_store("two-sided-uc", Transport::unreliable_connection, true),
          two_sided_store("two-sided-ud", Transport::unreliable_datagram, false),
          two_sided_store("two-sided-ud", Transport::unreliable_datagram, true),
          two_sided_store("two-sided-tcp", Transport::message_stream, false),
          two_sided_store("two-sided-tcp", Transport::message_stream, true)};
}

}  // namespace falafel::compare_stores
