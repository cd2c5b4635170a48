// Formats the reports of a benchmark as text and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/benchmarks/store/result.h"

namespace falafel::store_benchmark {
namespace {

using Json = nlohmann::json;

constexpr std::array kinds{OperationKind::read, OperationKind::update, OperationKind::insert,
                           OperationKind::read_modify_write, OperationKind::remove};

std::string latency_line(std::string_view name, const LatencyHistogram& latencies) {
  return fmt::format("  {:<18}{:>14}{:>12}{:>12}{:>12}{:>14}\n", name, latencies.count(),
                     latencies.quantile(0.5), latencies.quantile(0.99), latencies.quantile(0.999),
                     latencies.greatest());
}

double per_operation(std::uint64_t count, const BenchmarkResult& result) {
  const std::uint64_t operations = result.all_latencies.count();
  return operations == 0 ? 0 : static_cast<double>(count) / static_cast<double>(operations);
}

std::string work_text(const BenchmarkResult& result) {
  const engine::OperationStatistics& work = result.statistics;
  return fmt::format(
      "per operation: {:.3f} lookups, {:.3f} verbs, {:.1f} bytes, {:.3f} round trips, {:.3f} "
      "doorbells, {:.6f} restarts, {:.6f} lost compare-and-swaps, {:.3f} cached locations, {:.6f} "
      "stale ones\n",
      per_operation(work.lookups, result), per_operation(work.verbs, result),
      per_operation(work.bytes, result), per_operation(work.round_trips, result),
      per_operation(work.doorbells, result), per_operation(work.restarts, result),
      per_operation(work.lost_compare_and_swaps, result),
      per_operation(work.cached_locations, result), per_operation(work.stale_locations, result));
}

std::string server_text(const engine::ServerStatistics& server) {
  return fmt::format(
      "server during the run: {} regions collected, {} mature spaces collected, {} containers "
      "copied, "
      "{} cleanups, {} entries cleaned, {} requests for a region denied\n",
      server.regions_collected, server.mature_collections, server.containers_copied,
      server.cleanups, server.entries_cleaned, server.regions_denied);
}

std::string memory_text(const MemoryPerKey& memory) {
  return fmt::format(
      "memory per key: {:.1f} bytes (container {:.1f}, table {:.1f}, room to collect {:.1f}, "
      "regions of clients {:.1f})\n",
      memory.total_bytes, memory.container_bytes, memory.table_bytes, memory.collector_bytes,
      memory.region_bytes);
}

std::string busy_text(const std::vector<BusyPart>& parts) {
  std::string text = "busiest parts:";
  for (const BusyPart& part : parts)
    text += fmt::format(" {} {:.0f} %;", part.name, part.share * 100);
  text.back() = '\n';
  return text;
}

Json latency_json(const LatencyHistogram& latencies) {
  return {{"count", latencies.count()},
          {"median_ns", latencies.quantile(0.5)},
          {"percentile_99_ns", latencies.quantile(0.99)},
          {"percentile_99_9_ns", latencies.quantile(0.999)},
          {"greatest_ns", latencies.greatest()}};
}

Json options_json(const BenchmarkOptions& options) {
  return {{"workload", std::string(options.workload.name)},
          {"distribution", std::string(to_string(options.workload.distribution))},
          {"clients", options.clients},
          {"in_flight", options.in_flight},
          {"batches", options.batches},
          {"keys", options.keys},
          {"key_bytes", options.key_bytes},
          {"value_bytes", options.value_bytes},
          {"load", options.load},
          {"seconds", options.seconds},
          {"seed", options.seed},
          {"region_bytes", options.region_bytes}};
}

Json memory_json(const MemoryPerKey& memory) {
  return {{"container_bytes", memory.container_bytes},
          {"table_bytes", memory.table_bytes},
          {"collector_bytes", memory.collector_bytes},
          {"region_bytes", memory.region_bytes},
          {"total_bytes", memory.total_bytes}};
}

Json server_json(const engine::ServerStatistics& server) {
  return {{"regions_granted", server.regions_granted},
          {"regions_denied", server.regions_denied},
          {"regions_collected", server.regions_collected},
          {"mature_collections", server.mature_collections},
          {"containers_copied", server.containers_copied},
          {"cleanups", server.cleanups},
          {"entries_cleaned", server.entries_cleaned},
          {"updates_lost", server.updates_lost}};
}

}  // namespace

std::string to_text(const BenchmarkOptions& options, const BenchmarkResult& result) {
  std::string text = fmt::format(
      "{} ({} keys) on {}: {} clients, {} in flight each; {} keys of {} bytes, values of {} bytes\n"
      "loaded in {:.3f} s; {:.0f} operations per second in {:.3f} s, {:.0f} per client\n\n"
      "  {:<18}{:>14}{:>12}{:>12}{:>12}{:>14}\n",
      options.workload.name, to_string(options.workload.distribution), result.fabric,
      options.clients, options.in_flight, options.keys, options.key_bytes, options.value_bytes,
      result.load_seconds, result.operations_per_second, result.run_seconds,
      result.operations_per_second / options.clients, "latency in ns", "count", "median", "99 %",
      "99.9 %", "greatest");
  for (const OperationKind kind : kinds) {
    const LatencyHistogram& latencies = result.latencies[static_cast<std::size_t>(kind)];
    if (latencies.count() > 0) text += latency_line(to_string(kind), latencies);
  }
  text += latency_line("all", result.all_latencies);
  if (options.workload.removes()) {
    text += fmt::format("  ({} operations found no key, because it had been deleted)\n",
                        result.absent_keys);
  }
  text += fmt::format("  (measured with {})\n\n", result.clock);
  text += work_text(result);
  if (result.server) text += server_text(result.server->statistics);
  if (result.memory) text += memory_text(*result.memory);
  if (!result.busiest_parts.empty()) text += busy_text(result.busiest_parts);
  return text;
}

std::string to_json(const BenchmarkOptions& options, const BenchmarkResult& result) {
  Json latencies = Json::object();
  for (const OperationKind kind : kinds) {
    const LatencyHistogram& of_kind = result.latencies[static_cast<std::size_t>(kind)];
    if (of_kind.count() > 0) latencies[std::string(to_string(kind))] = latency_json(of_kind);
  }
  latencies["all"] = latency_json(result.all_latencies);
  const engine::OperationStatistics& work = result.statistics;
  Json json{{"fabric", result.fabric},
            {"options", options_json(options)},
            {"clock", result.clock},
            {"load_seconds", result.load_seconds},
            {"run_seconds", result.run_seconds},
            {"operations_per_second", result.operations_per_second},
            {"latency", std::move(latencies)},
            {"client_work",
             {{"lookups", work.lookups},
              {"verbs", work.verbs},
              {"bytes", work.bytes},
              {"round_trips", work.round_trips},
              {"doorbells", work.doorbells},
              {"restarts", work.restarts},
              {"lost_compare_and_swaps", work.lost_compare_and_swaps},
              {"cached_locations", work.cached_locations},
              {"stale_locations", work.stale_locations}}}};
  if (result.server) {
    json["server_work"] = server_json(result.server->statistics);
    json["mature_used_bytes"] = result.server->mature_used_bytes;
  }
  if (options.workload.removes()) json["absent_keys"] = result.absent_keys;
  if (result.memory) json["memory_per_key"] = memory_json(*result.memory);
  for (const BusyPart& part : result.busiest_parts) {
    json["busiest_parts"].push_back({{"name", part.name}, {"share", part.share}});
  }
  return json.dump(2) + "\n";
}

}  // namespace falafel::store_benchmark
