// A server's report about itself, as text, as JSON, and for Prometheus.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/server/server.h"

namespace falafel::server_program {

struct ServerReport {
  std::string name;
  std::int64_t process_id = 0;
  std::uint64_t uptime_ns = 0;
  std::uint32_t max_clients = 0;
  std::string memory_file{};  // empty: the store ends with the process
  engine::Geometry geometry;  // of the limit, if the memory grows
  bool memory_grows = false;
  engine::ServerInspection inspection;
  // attempts to accept a client for which this process had no file descriptor
  std::uint64_t descriptor_shortages = 0;
};

// A part of the chunk with its size. The sizes add up to the size of the chunk.
struct ChunkPart {
  std::string name;
  std::uint64_t bytes = 0;
};
std::vector<ChunkPart> account_for_chunk(const ServerReport& report);

// The length of the table into which new keys go.
std::uint64_t present_table_entries(const ServerReport& report);

std::uint64_t count_regions(const ServerReport& report, engine::RegionState state);

// All values that only increase.
struct Counter {
  std::string_view name;
  std::string_view meaning;
  std::uint64_t (*value_in)(const ServerReport&);
};
const std::vector<Counter>& counters();

std::string to_text(const ServerReport& report);
std::string to_json(const ServerReport& report);
std::string to_prometheus(const ServerReport& report);

}  // namespace falafel::server_program
