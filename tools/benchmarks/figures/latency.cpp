#include "tools/benchmarks/figures/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "engine/layout/container.h"
#include "engine/layout/key_hash.h"
#include "fabric/assert.h"
#include "tools/benchmarks/figures/timed_store.h"

namespace falafel::figures {
namespace {

using engine::Answer;

// 12 bytes for the key of an operation, and 10 for others in its way.
constexpr std::uint64_t own_key_bytes = 12;
constexpr std::uint64_t other_key_bytes = 10;
constexpr std::uint64_t others_in_chain = 2;
constexpr std::uint64_t table_entries = 1 << 14;
constexpr std::uint64_t pause_ns = 5'000'000;  // the server collects meanwhile

constexpr std::array cases{
    LatencyCase{"GET, empty entry", 2.3},  LatencyCase{"GET, near-empty table", 4.5},
    LatencyCase{"GET, load 0.8", 9.5},     LatencyCase{"SET, new key", 4.5},
    LatencyCase{"SET, existing key", 6.8}, LatencyCase{"SET, load 0.8", 11.8},
    LatencyCase{"DELETE, not found", 2.3}, LatencyCase{"DELETE, near-empty table", 6.8},
    LatencyCase{"DELETE, load 0.8", 11.8}};

std::vector<std::byte> key_of_length(std::uint64_t number, std::uint64_t bytes) {
  std::string text = fmt::format("{:x}", number);
  text.resize(bytes, '.');
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

class LatencyMeasurement {
 public:
  LatencyMeasurement(const sim::timing::Profile& profile, std::uint64_t value_bytes,
                     const LatencyOptions& options)
      : profile_(profile), options_(options), value_(value_bytes), durations_us_(cases.size()) {}

  std::vector<double> run() {
    const TimedStore store{.profile = profile_,
                           .server = server_options(),
                           .client = client_options(),
                           .seed = options_.seed};
    run_timed_store(store, [this](TimedClient& client) { measure(client); });
    std::vector<double> medians;
    for (std::vector<double>& durations : durations_us_) {
      const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
      std::nth_element(durations.begin(), middle, durations.end());
      medians.push_back(*middle);
    }
    return medians;
  }

 private:
  engine::ServerOptions server_options() const {
    engine::ServerOptions server;
    server.safeguards = options_.safeguards;
    server.hash_key.emplace();  // known, so that keys of one chain can be found
    engine::Geometry& geometry = server.geometry;
    geometry.table_entries = table_entries;
    const std::uint64_t container = engine::container_bytes(own_key_bytes, value_.size()) + 64;
    geometry.region_bytes =
        geometry.round_up_to_unit(std::max<std::uint64_t>(1 << 16, 4 * container));
    geometry.region_count = 16;
    geometry.mature_bytes = 16 * geometry.region_bytes;
    return server;
  }

  engine::ClientOptions client_options() const {
    engine::ClientOptions client;
    client.safeguards = options_.safeguards;
    client.readahead.container_bytes = 512;
    client.readahead.containers = 1;
    client.readahead.adaptive = false;
    client.location_cache.entries = options_.location_cache_entries;
    return client;
  }

  // The next key of that length, with this home slot.
  std::vector<std::byte> next_key(std::uint64_t bytes, std::uint64_t home) {
    for (;;) {
      std::vector<std::byte> key = key_of_length(next_number_++, bytes);
      if (engine::home_slot(key, engine::HashKey{}, table_entries) == home) return key;
    }
  }

  // Homes are apart, so that chains do not meet.
  std::uint64_t next_home() { return next_home_ += 16; }

  template <typename Operation>
  void time(TimedClient& timed, std::size_t index, Answer expected, Operation operation) {
    timed.host.sleep_until(timed.host.now_ns() + pause_ns);
    const std::uint64_t begin_ns = timed.host.now_ns();
    const Answer answer = operation();
    durations_us_[index].push_back(static_cast<double>(timed.host.now_ns() - begin_ns) / 1e3);
    FALAFEL_ASSERT(answer == expected, "{} answered {}", cases[index].name, to_string(answer));
  }

  Answer get(engine::Client& client, std::span<const std::byte> key) const {
    if (options_.get_copies) return client.get(key).answer;
    return client.get(key, [](std::span<const std::byte>) {}).answer;
  }

  void measure(TimedClient& timed) {
    for (std::uint32_t repetition = 0; repetition < options_.repetitions; ++repetition) {
      measure_alone(timed);
      measure_in_chain(timed);
    }
  }

  void measure_alone(TimedClient& timed) {
    engine::Client& client = timed.client;
    const std::vector<std::byte> key = next_key(own_key_bytes, next_home());
    time(timed, 0, Answer::not_found, [&] { return get(client, key); });
    time(timed, 6, Answer::not_found, [&] { return client.remove(key).answer; });
    time(timed, 3, Answer::stored, [&] { return client.set(key, value_).answer; });
    time(timed, 1, Answer::found, [&] { return get(client, key); });
    time(timed, 4, Answer::stored, [&] { return client.set(key, value_).answer; });
    time(timed, 7, Answer::deleted, [&] { return client.remove(key).answer; });
  }

  void measure_in_chain(TimedClient& timed) {
    engine::Client& client = timed.client;
    const std::uint64_t home = next_home();
    for (std::uint64_t other = 0; other < others_in_chain; ++other) {
      const Answer answer = client.set(next_key(other_key_bytes, home), {}).answer;
      FALAFEL_ASSERT(answer == Answer::stored, "SET answered {}", to_string(answer));
    }
    const std::vector<std::byte> key = next_key(own_key_bytes, home);
    const Answer answer = client.set(key, value_).answer;
    FALAFEL_ASSERT(answer == Answer::stored, "SET answered {}", to_string(answer));
    time(timed, 2, Answer::found, [&] { return get(client, key); });
    time(timed, 5, Answer::stored, [&] { return client.set(key, value_).answer; });
    time(timed, 8, Answer::deleted, [&] { return client.remove(key).answer; });
  }

  const sim::timing::Profile& profile_;
  const LatencyOptions& options_;
  std::vector<std::byte> value_;
  std::vector<std::vector<double>> durations_us_;
  std::uint64_t next_number_ = 0;
  std::uint64_t next_home_ = 0;
};

}  // namespace

std::span<const LatencyCase> latency_cases() { return cases; }

std::vector<double> measure_latencies(const sim::timing::Profile& profile,
                                      std::uint64_t value_bytes, const LatencyOptions& options) {
  return LatencyMeasurement(profile, value_bytes, options).run();
}

}  // namespace falafel::figures
