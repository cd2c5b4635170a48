#include "tools/benchmarks/calibration/store_latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "engine/client/client.h"

namespace falafel::calibration {
namespace {

using engine::Answer;

constexpr std::uint16_t store_service = 10;
constexpr std::uint64_t table_entries = 1 << 16;
constexpr std::uint64_t most_gets = 4'000;
// From one key to the next: all keys are read, and never two in a row that are neighbors.
constexpr std::uint64_t key_stride = 7'919;
constexpr std::uint64_t value_bytes = 24;

using Key = std::array<char, 16>;

// The letter tells keys that are in the store from others.
Key key_of(char kind, std::uint64_t number) {
  Key key{};
  std::ranges::copy(fmt::format("{}{:014}.", kind, number), key.begin());
  return key;
}

// Everything fits the first READs: a GET takes two round trips if the key is there, and one if its
// slot is empty, as that of nearly every absent key.
engine::ClientOptions client_options() {
  engine::ClientOptions options;
  options.readahead = {.chunk_entries = 8,
                       .container_bytes = 128,
                       .containers = 1,
                       .adaptive = false,
                       .validation = false};
  return options;
}

class StoreMeasurement {
 public:
  StoreMeasurement(fabric::Host& host, engine::Client& client, const StoreLoad& load)
      : host_(host), client_(client), load_(load) {}

  tl::expected<StoreLatency, std::string> run() {
    if (const auto filled = fill(); !filled) return tl::unexpected(filled.error());
    StoreLatency latency;
    for (const auto& [kind, expected, result] : {Case{'b', Answer::not_found, &latency.absent_ns},
                                                 Case{'a', Answer::found, &latency.present_ns}}) {
      const auto median_ns = time_gets(kind, expected);
      if (!median_ns) return tl::unexpected(median_ns.error());
      *result = *median_ns;
    }
    return latency;
  }

 private:
  struct Case {
    char kind;
    Answer expected;
    double* result;
  };

  static tl::unexpected<std::string> unexpected_answer(std::string_view operation, Answer answer) {
    return tl::unexpected(
        fmt::format("a {} of the store answered '{}'", operation, to_string(answer)));
  }

  std::uint64_t deadline_ns() const {
    const std::uint64_t begin_ns = host_.now_ns();
    return load_.longest_ns < fabric::never_ns - begin_ns ? begin_ns + load_.longest_ns
                                                          : fabric::never_ns;
  }

  tl::expected<void, std::string> fill() {
    const std::vector<std::byte> value(value_bytes);
    const std::uint64_t deadline = deadline_ns();
    do {
      const Key key = key_of('a', stored_);
      const Answer answer = client_.set(std::as_bytes(std::span(key)), value).answer;
      if (answer != Answer::stored) return unexpected_answer("SET", answer);
      ++stored_;
    } while (stored_ < load_.keys && host_.now_ns() < deadline);
    return {};
  }

  tl::expected<double, std::string> time_gets(char kind, Answer expected) {
    std::vector<double> durations_ns;
    durations_ns.reserve(most_gets);
    const std::uint64_t deadline = deadline_ns();
    std::uint64_t end_ns = 0;
    while (durations_ns.size() < most_gets && end_ns < deadline) {
      const Key key = key_of(kind, durations_ns.size() * key_stride % stored_);
      const std::uint64_t begin_ns = host_.now_ns();
      const Answer answer = client_.get(std::as_bytes(std::span(key))).answer;
      end_ns = host_.now_ns();
      if (answer != expected) return unexpected_answer("GET", answer);
      durations_ns.push_back(static_cast<double>(end_ns - begin_ns));
    }
    const auto middle = durations_ns.begin() + static_cast<std::ptrdiff_t>(durations_ns.size() / 2);
    std::ranges::nth_element(durations_ns, middle);
    return std::max(0.0, *middle - load_.clock_ns);
  }

  fabric::Host& host_;
  engine::Client& client_;
  const StoreLoad& load_;
  std::uint64_t stored_ = 0;
};

}  // namespace

fabric::Result<std::unique_ptr<engine::Server>> start_store(fabric::Host& host) {
  engine::ServerOptions options;
  options.service = store_service;
  options.geometry.table_entries = table_entries;
  options.geometry.region_bytes = 1 << 16;
  options.geometry.region_count = 16;
  options.geometry.mature_bytes = 1 << 23;
  return engine::Server::start(host, options);
}

tl::expected<StoreLatency, std::string> measure_store(fabric::Host& host, const std::string& server,
                                                      const StoreLoad& load) {
  const auto client =
      engine::Client::connect(host, {.host = server, .service = store_service}, client_options());
  if (!client) {
    return tl::unexpected(fmt::format("connecting to the store: {}", client.error().detail));
  }
  auto latency = StoreMeasurement(host, **client, load).run();
  (*client)->disconnect();
  return latency;
}

}  // namespace falafel::calibration
