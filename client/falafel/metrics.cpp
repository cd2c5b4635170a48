#include "falafel/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

namespace falafel {

StoreMetrics& StoreMetrics::operator+=(const StoreMetrics& other) {
  stores += other.stores;
  connected_stores += other.connected_stores;
  connections += other.connections;
  for (std::size_t operation = 0; operation < operations.size(); ++operation) {
    OperationMetrics& sum = operations[operation];
    const OperationMetrics& part = other.operations[operation];
    std::ranges::transform(sum.answers, part.answers, sum.answers.begin(), std::plus());
    sum.latencies_ns += part.latencies_ns;
    sum.latencies_sum_ns += part.latencies_sum_ns;
  }
  costs += other.costs;
  return *this;
}

namespace {

constexpr std::array<std::string_view, engine::operation_count> operation_names{"get", "set",
                                                                                "delete"};

// A metric of a store with one sample.
struct Single {
  std::string_view name;
  std::string_view type;
  std::string_view meaning;
  std::uint64_t (*value)(const StoreMetrics& metrics);
};

template <auto member>
std::uint64_t cost(const StoreMetrics& metrics) {
  return metrics.costs.*member;
}

using Costs = engine::OperationStatistics;
constexpr std::array singles{
    Single{"stores", "gauge", "open stores, each a client of the server",
           [](const StoreMetrics& metrics) { return metrics.stores; }},
    Single{"connected_stores", "gauge", "open stores whose connection is intact",
           [](const StoreMetrics& metrics) { return metrics.connected_stores; }},
    Single{"connections_total", "counter", "connections made to the server",
           [](const StoreMetrics& metrics) { return metrics.connections; }},
    Single{"round_trips_total", "counter", "round trips that operations waited for",
           &cost<&Costs::round_trips>},
    Single{"requests_total", "counter", "requests that operations posted", &cost<&Costs::verbs>},
    Single{"request_bytes_total", "counter", "bytes of the requests of operations",
           &cost<&Costs::bytes>},
    Single{"lookups_total", "counter", "containers whose key was compared", &cost<&Costs::lookups>},
    Single{"restarts_total", "counter", "searches that started over", &cost<&Costs::restarts>},
    Single{"lost_compare_and_swaps_total", "counter", "changes that lost to another client",
           &cost<&Costs::lost_compare_and_swaps>},
    Single{"cached_locations_total", "counter", "operations that used a cached location",
           &cost<&Costs::cached_locations>},
    Single{"stale_locations_total", "counter", "operations whose cached location was out of date",
           &cost<&Costs::stale_locations>}};

// A label's value; the format demands the escapes.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    if (character == '\n') {
      result += "\\n";
      continue;
    }
    if (character == '\\' || character == '"') result += '\\';
    result += character;
  }
  return result;
}

std::string heading(std::string_view name, std::string_view type, std::string_view meaning) {
  return fmt::format("# HELP falafel_client_{0} {2}\n# TYPE falafel_client_{0} {1}\n", name, type,
                     meaning);
}

// Returns whether dashboards can expect the series. If so, it starts at zero.
bool is_possible(engine::Operation operation, engine::Answer answer) {
  using engine::Answer;
  switch (answer) {
    case Answer::found:
    case Answer::corrupted: return operation == engine::Operation::get;
    case Answer::not_found: return operation != engine::Operation::set;
    case Answer::stored:
    case Answer::value_too_large:
    case Answer::table_full: return operation == engine::Operation::set;
    case Answer::deleted: return operation == engine::Operation::remove;
    case Answer::unknown_outcome: return operation != engine::Operation::get;
    case Answer::not_a_cache:
    case Answer::differs: return false;
    case Answer::invalid_key:
    case Answer::out_of_memory:
    case Answer::disconnected:
    case Answer::timed_out: break;
  }
  return true;
}

std::string answers_of(const StoreMetrics& metrics, engine::Operation operation) {
  std::string text;
  for (std::size_t index = 0; index < engine::answer_count; ++index) {
    const auto answer = static_cast<engine::Answer>(index);
    const std::uint64_t count = metrics.of(operation).count_of(answer);
    if (count == 0 && !is_possible(operation, answer)) continue;
    std::string outcome(to_string(answer));
    std::ranges::replace(outcome, ' ', '_');
    text += fmt::format(
        "falafel_client_operations_total{{server=\"{}\",operation=\"{}\",outcome=\"{}\"}} {}\n",
        escaped(metrics.server), operation_names[static_cast<std::size_t>(operation)], outcome,
        count);
  }
  return text;
}

// The boundaries are powers of two and the middles between them, from 256 ns to 17 s. The buckets
// of the histogram are finer and have the same boundaries, so the counts are exact.
std::string latencies_of(const StoreMetrics& metrics, engine::Operation operation) {
  constexpr unsigned first_power = 8;
  constexpr unsigned last_power = 34;
  const OperationMetrics& measured = metrics.of(operation);
  const std::string labels = fmt::format("server=\"{}\",operation=\"{}\"", escaped(metrics.server),
                                         operation_names[static_cast<std::size_t>(operation)]);
  std::string text;
  const auto bucket = [&](std::uint64_t limit_ns) {
    text += fmt::format("falafel_client_operation_seconds_bucket{{{},le=\"{}\"}} {}\n", labels,
                        static_cast<double>(limit_ns) / 1e9,
                        measured.latencies_ns.count_below(limit_ns));
  };
  for (unsigned power = first_power; power <= last_power; ++power) {
    bucket(std::uint64_t{1} << power);
    if (power < last_power) bucket(std::uint64_t{3} << (power - 1));
  }
  text += fmt::format(
      "falafel_client_operation_seconds_bucket{{{0},le=\"+Inf\"}} {1}\n"
      "falafel_client_operation_seconds_sum{{{0}}} {2}\n"
      "falafel_client_operation_seconds_count{{{0}}} {1}\n",
      labels, measured.latencies_ns.count(), static_cast<double>(measured.latencies_sum_ns) / 1e9);
  return text;
}

std::vector<StoreMetrics> sum_by_server(std::span<const StoreMetrics> metrics) {
  std::vector<StoreMetrics> sums;
  for (const StoreMetrics& part : metrics) {
    const auto sum = std::ranges::find(sums, part.server, &StoreMetrics::server);
    if (sum == sums.end()) {
      sums.push_back(part);
    } else {
      *sum += part;
    }
  }
  return sums;
}

}  // namespace

std::string to_prometheus(std::span<const StoreMetrics> metrics) {
  constexpr std::array operations{engine::Operation::get, engine::Operation::set,
                                  engine::Operation::remove};
  const std::vector<StoreMetrics> servers = sum_by_server(metrics);
  std::string text = heading("operations_total", "counter", "operations by their outcome");
  for (const StoreMetrics& server : servers) {
    for (const engine::Operation operation : operations) text += answers_of(server, operation);
  }
  text += heading("operation_seconds", "histogram", "how long operations took");
  for (const StoreMetrics& server : servers) {
    for (const engine::Operation operation : operations) text += latencies_of(server, operation);
  }
  for (const Single& single : singles) {
    text += heading(single.name, single.type, single.meaning);
    for (const StoreMetrics& server : servers) {
      text += fmt::format("falafel_client_{}{{server=\"{}\"}} {}\n", single.name,
                          escaped(server.server), single.value(server));
    }
  }
  return text;
}

}  // namespace falafel
