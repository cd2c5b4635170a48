#include "tools/benchmarks/store/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/layout/container.h"
#include "tools/benchmarks/store/record.h"

namespace falafel::store_benchmark {
namespace {

constexpr std::uint32_t most_clients = 1'000;
constexpr double bytes_per_gib = 1 << 30;
constexpr double most_store_bytes = 256 * bytes_per_gib;
constexpr std::uint64_t regions_per_client = 4;  // current, next, and two that are being collected

}  // namespace

std::optional<std::string> find_invalid_option(const BenchmarkOptions& options) {
  if (options.clients == 0 || options.clients > most_clients) {
    return fmt::format("--clients is {} but must be from 1 to {}", options.clients, most_clients);
  }
  if (options.in_flight == 0 || options.in_flight > 256) {
    return fmt::format("--in-flight is {} but must be from 1 to 256", options.in_flight);
  }
  if (options.keys < options.stream_count()) {
    return fmt::format("--keys is {} but must be at least --clients times --in-flight ({})",
                       options.keys, options.stream_count());
  }
  if (options.key_bytes == 0 || options.key_bytes > engine::max_key_bytes ||
      !has_enough_digits(options.most_keys(), options.key_bytes)) {
    return fmt::format(
        "--key-bytes is {} but must be from 1 to {}, with enough hexadecimal digits for {} keys",
        options.key_bytes, engine::max_key_bytes, options.most_keys());
  }
  if (options.value_bytes > engine::max_value_bytes) {
    return fmt::format("--value-bytes is {} but must be at most {}", options.value_bytes,
                       engine::max_value_bytes);
  }
  if (const double bytes = static_cast<double>(options.most_keys()) *
                           static_cast<double>(container_size_bytes(options));
      bytes > most_store_bytes) {
    return fmt::format(
        "--keys is {}: these keys and their values take {:.0f} GiB, and a store has "
        "at most {:.0f}; use fewer",
        options.most_keys(), bytes / bytes_per_gib, most_store_bytes / bytes_per_gib);
  }
  if (options.load <= 0 || options.load > 0.95) {
    return fmt::format("--load is {} but must be over 0 and at most 0.95", options.load);
  }
  if (options.seconds <= 0) return "--seconds must be more than 0";
  if (container_size_bytes(options) > options.region_bytes) {
    return fmt::format(
        "a key and its value take {} bytes, which do not fit into a region of {}; make "
        "--region-size "
        "larger",
        container_size_bytes(options), options.region_bytes);
  }
  return engine::find_invalid_geometry(geometry_for(options));
}

std::uint64_t container_size_bytes(const BenchmarkOptions& options) {
  return engine::Geometry{}.round_up_to_unit(
      engine::container_bytes(options.key_bytes, options.value_bytes));
}

// A semi-space has room for all keys, for half as much garbage, and for all regions.
static void add_semi_spaces(const BenchmarkOptions& options, engine::Geometry& geometry) {
  geometry.mature_bytes = options.most_keys() * container_size_bytes(options) / 2 * 3 +
                          geometry.region_count * geometry.region_bytes;
  geometry.mature_bytes = geometry.round_up_to_unit(geometry.mature_bytes);
}

// The keys fill four fifths of the blocks, and there is another for each region.
static void add_blocks(const BenchmarkOptions& options, engine::Geometry& geometry) {
  const std::uint64_t data_bytes = options.most_keys() * container_size_bytes(options);
  geometry.mature_bytes = geometry.region_bytes;
  geometry.mature_space_count = static_cast<std::uint32_t>(
      data_bytes / 4 * 5 / geometry.mature_bytes + geometry.region_count + engine::fewest_blocks);
}

engine::Geometry geometry_for(const BenchmarkOptions& options) {
  engine::Geometry geometry;
  geometry.table_entries = static_cast<std::uint64_t>(
      std::ceil(static_cast<double>(options.most_keys()) / options.load));
  geometry.region_bytes = geometry.round_up_to_unit(options.region_bytes);
  geometry.region_count = regions_per_client * options.clients;
  if (options.semi_spaces) {
    add_semi_spaces(options, geometry);
  } else {
    add_blocks(options, geometry);
  }
  const std::uint64_t reach_bytes = std::uint64_t{1} << 35;
  if (geometry.chunk_bytes() > reach_bytes) geometry.unit_bytes = 64;
  return engine::with_spare_bits(geometry, options.reference_bits);
}

engine::ServerOptions server_options(const BenchmarkOptions& options) {
  engine::ServerOptions server;
  server.geometry = geometry_for(options);
  server.max_clients = options.clients + 1;
  return server;
}

engine::ClientOptions client_options(const BenchmarkOptions& options,
                                     const engine::ReadaheadOptions& readahead,
                                     const engine::LocationCacheOptions& cache) {
  engine::ClientOptions client;
  client.readahead = options.readahead.value_or(readahead);
  client.location_cache = cache;
  client.location_cache.entries = options.location_cache_entries.value_or(cache.entries);
  client.max_operations_in_flight = options.in_flight;
  return client;
}

}  // namespace falafel::store_benchmark
