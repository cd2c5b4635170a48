#include "tools/benchmarks/figures/throughput.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <string>

#include "engine/layout/container.h"
#include "fabric/assert.h"
#include "tools/benchmarks/figures/timed_store.h"

namespace falafel::figures {
namespace {

using engine::Answer;

constexpr std::uint64_t warm_up_ns = 1'000'000;
constexpr std::uint64_t interval_ns = 100'000;

std::vector<std::byte> text_of_length(std::string text, std::uint64_t bytes) {
  text.resize(bytes, '.');
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

double median_us(std::vector<std::uint64_t>& durations_ns) {
  if (durations_ns.empty()) return 0;
  const auto middle = durations_ns.begin() + static_cast<std::ptrdiff_t>(durations_ns.size() / 2);
  std::nth_element(durations_ns.begin(), middle, durations_ns.end());
  return static_cast<double>(*middle) / 1e3;
}

class ThroughputMeasurement {
 public:
  ThroughputMeasurement(const sim::timing::Profile& profile, const ThroughputLoad& load)
      : profile_(profile), load_(load) {}

  Throughput run() {
    const TimedStore store{.profile = profile_,
                           .server = server_options(),
                           .client = client_options(),
                           .clients = load_.clients,
                           .machines = load_.machines,
                           .seed = load_.seed};
    run_timed_store(store, [this](TimedClient& client) { take_part(client); });
    return {.operations_per_second = static_cast<double>(gets_ns_.size() + sets_ns_.size()) * 1e9 /
                                     static_cast<double>(load_.duration_ns),
            .get_latency_us = median_us(gets_ns_),
            .set_latency_us = median_us(sets_ns_),
            .server = busy_shares()};
  }

 private:
  // At least one for each client.
  std::uint64_t key_count() const {
    const double keys = static_cast<double>(load_.table_entries) * load_.load;
    return std::max<std::uint64_t>(load_.clients, static_cast<std::uint64_t>(keys));
  }

  // So large that no region fills before the end of the measurement, and nothing is collected.
  std::uint64_t region_bytes(std::uint64_t container) const {
    constexpr std::uint64_t shortest_set_ns = 5'000;
    const std::uint64_t sets = key_count() / load_.clients + load_.duration_ns / shortest_set_ns;
    return std::bit_ceil(2 * sets * container);
  }

  engine::ServerOptions server_options() const {
    engine::ServerOptions server;
    server.safeguards = load_.safeguards;
    server.max_clients = load_.clients + 1;
    engine::Geometry& geometry = server.geometry;
    geometry.table_entries = load_.table_entries;
    const std::uint64_t container =
        geometry.round_up_to_unit(engine::container_bytes(load_.key_bytes, load_.value_bytes));
    geometry.region_bytes = region_bytes(container);
    geometry.region_count = 2 * load_.clients;
    geometry.mature_bytes = geometry.round_up_to_unit(
        2 * key_count() * container + geometry.region_count * geometry.region_bytes);
    return server;
  }

  engine::ClientOptions client_options() const {
    engine::ClientOptions client;
    client.safeguards = load_.safeguards;
    client.readahead.container_bytes = load_.readahead_bytes;
    return client;
  }

  std::vector<std::byte> key(std::uint64_t number) const {
    return text_of_length(fmt::format("{:08x}", number), load_.key_bytes);
  }

  void take_part(TimedClient& timed) {
    const std::vector<std::byte> value = text_of_length("value", load_.value_bytes);
    for (std::uint64_t number = timed.number; number < key_count(); number += load_.clients) {
      const Answer answer = timed.client.set(key(number), value).answer;
      FALAFEL_ASSERT(answer == Answer::stored, "SET answered {}", to_string(answer));
    }
    wait_for_others(timed);
    run_operations(timed, value);
  }

  // The last client to have stored its keys says when the measurement begins.
  void wait_for_others(TimedClient& timed) {
    if (++ready_clients_ == load_.clients) begin_ns_ = timed.host.now_ns() + warm_up_ns;
    while (begin_ns_ == 0) timed.host.sleep_until(timed.host.now_ns() + interval_ns);
  }

  void run_operations(TimedClient& timed, const std::vector<std::byte>& value) {
    const std::uint64_t end_ns = begin_ns_ + load_.duration_ns;
    std::uint64_t number = timed.number;
    for (;;) {
      const std::uint64_t start_ns = timed.host.now_ns();
      if (start_ns >= begin_ns_ && before_.empty()) before_ = timed.simulation.usage();
      const bool is_get = timed.host.random(100) < load_.get_percent;
      const Answer answer = is_get ? timed.client.get(key(number)).answer
                                   : timed.client.set(key(number), value).answer;
      FALAFEL_ASSERT(answer == (is_get ? Answer::found : Answer::stored), "key {}: {}", number,
                     to_string(answer));
      const std::uint64_t now_ns = timed.host.now_ns();
      if (now_ns >= end_ns) break;
      if (now_ns >= begin_ns_) (is_get ? gets_ns_ : sets_ns_).push_back(now_ns - start_ns);
      number += load_.clients;
      if (number >= key_count()) number = timed.number;
    }
    if (after_.empty()) after_ = timed.simulation.usage();
  }

  std::vector<BusyShare> busy_shares() const {
    std::vector<BusyShare> shares;
    for (std::size_t index = 0; index < after_.size() && index < before_.size(); ++index) {
      if (after_[index].machine != "server") continue;
      shares.push_back(
          {after_[index].part, static_cast<double>(after_[index].busy_ns - before_[index].busy_ns) /
                                   static_cast<double>(load_.duration_ns)});
    }
    std::ranges::stable_sort(shares, std::greater{}, &BusyShare::share);
    return shares;
  }

  const sim::timing::Profile& profile_;
  const ThroughputLoad& load_;
  std::uint32_t ready_clients_ = 0;
  std::uint64_t begin_ns_ = 0;  // of the measurement; 0: clients are still storing their keys
  std::vector<std::uint64_t> gets_ns_;
  std::vector<std::uint64_t> sets_ns_;
  std::vector<sim::Usage> before_;
  std::vector<sim::Usage> after_;
};

}  // namespace

Throughput measure_throughput(const sim::timing::Profile& profile, const ThroughputLoad& load) {
  return ThroughputMeasurement(profile, load).run();
}

}  // namespace falafel::figures
