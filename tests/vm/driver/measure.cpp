// Measures operation latencies: medians of single operations, executed one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tests/vm/driver/driver.h"

namespace falafel::driver {
namespace {

std::uint64_t median_ns(fabric::Host& host, std::uint32_t rounds,
                        const std::function<void()>& body) {
  std::vector<std::uint64_t> durations_ns;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const std::uint64_t start_ns = host.now_ns();
    body();
    durations_ns.push_back(host.now_ns() - start_ns);
  }
  const auto middle = durations_ns.begin() + static_cast<std::ptrdiff_t>(durations_ns.size() / 2);
  std::nth_element(durations_ns.begin(), middle, durations_ns.end());
  return *middle;
}

// Adds the numbers of round trips and verbs that the client counted.
void report(const char* what, std::uint64_t duration_ns, const engine::OperationStatistics& before,
            const engine::OperationStatistics& after, std::uint32_t rounds) {
  fmt::print("{}: {:.1f} us, {:.2f} round trips, {:.2f} verbs\n", what,
             static_cast<double>(duration_ns) / 1e3,
             static_cast<double>(after.round_trips - before.round_trips) / rounds,
             static_cast<double>(after.verbs - before.verbs) / rounds);
}

int measure_all(verbs::Host& host, const Settings& settings) {
  auto connected = engine::Client::connect(
      host, {.host = settings.server, .service = settings.service}, client_options());
  if (!connected) {
    fmt::print("{}: {}\n", to_string(connected.error().code), connected.error().detail);
    return 2;
  }
  engine::Client& client = **connected;
  const std::string_view key = "measured";
  const std::string_view absent = "absent";
  const std::vector<std::byte> value(64);
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  const auto measure_one = [&](const char* what, const std::function<void()>& body) {
    const engine::OperationStatistics before = client.statistics();
    const std::uint64_t duration_ns = median_ns(host, settings.rounds, body);
    report(what, duration_ns, before, client.statistics(), settings.rounds);
  };
  measure_one("SET", [&] { client.set(bytes(key), value); });
  measure_one("GET hit", [&] { client.get(bytes(key)); });
  measure_one("GET miss", [&] { client.get(bytes(absent)); });
  measure_one("SET and DELETE", [&] {
    client.set(bytes(key), value);
    client.remove(bytes(key));
  });
  client.disconnect();
  return 0;
}

}  // namespace

int measure(const Settings& settings) {
  return run_on_host(settings, [&](verbs::Host& host) { return measure_all(host, settings); });
}

}  // namespace falafel::driver
