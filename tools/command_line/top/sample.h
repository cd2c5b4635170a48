// The report of a server at one time, and its changes since an earlier report.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/error.h"
#include "tools/server/status_socket.h"

namespace falafel::top {

struct ClientSample {
  std::uint64_t number = 0;
  std::uint64_t regions = 0;
  std::uint64_t silence_ns = 0;
  bool awaited = false;
  bool leaving = false;
  bool quarantined = false;
};

struct Sample {
  std::string name;
  std::int64_t process_id = 0;
  std::uint64_t uptime_ns = 0;
  std::uint64_t max_clients = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t held_bytes = 0;  // of these, if the memory grows; otherwise all
  std::uint64_t region_count = 0;
  std::uint64_t table_entries = 0;  // of the table into which new keys go
  bool is_table_growing = false;
  std::vector<std::pair<std::string, std::uint64_t>> parts;  // of the memory, in bytes
  std::map<std::string, std::uint64_t> regions;              // how many in each state
  std::vector<ClientSample> clients;
  std::uint64_t requests_waiting = 0;
  std::map<std::string, std::uint64_t> counters;
  bool is_idle = false;

  std::uint64_t regions_in(const std::string& state) const {
    const auto found = regions.find(state);
    return found == regions.end() ? 0 : found->second;
  }
  // The used bytes of the mature space that holds the data.
  std::uint64_t used_mature_bytes() const;
  std::uint64_t clients_with(bool ClientSample::*property) const;
};

// From the JSON that the server's status socket sends. An error says what is missing.
fabric::Result<Sample> parse_sample(std::string_view json);

// Asks the server. Errors: those of server_program::request_status, and of parse_sample.
fabric::Result<Sample> take_sample(const std::filesystem::path& socket);

// How much a counter grew per second, by the server's own clock. Nullopt: there is no earlier
// sample of this run of the server.
std::optional<double> rate_of(std::string_view counter, const Sample* earlier, const Sample& now);

}  // namespace falafel::top
