// Warnings of a store whose table fills and whose memory does not, or the other way round.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/layout/geometry.h"
#include "engine/server/server.h"

namespace falafel::server_program {

struct Fill {
  double table_share = 0;             // of the entries that are not empty
  double memory_share = 0;            // of the memory for data that is live
  std::uint64_t requests_denied = 0;  // as in engine::ServerBooks
  std::uint32_t table = 0;            // number of the last table, into which new keys go
};

// Looks at a sample of the table, and at the containers of its keys.
Fill fill_of(engine::Server& server);

class FillWarnings {
 public:
  // Returns each kind of warning once.
  std::optional<std::string> examine(const engine::Geometry& geometry, const Fill& fill);

 private:
  bool has_warned_of_table_ = false;
  bool has_warned_of_memory_ = false;
};

struct HeldAndRefused {
  std::uint64_t held_bytes = 0;
  std::uint64_t limit_bytes = 0;
  std::uint64_t refusals = 0;  // ServerStatistics::commits_refused
};

class RefusalWarnings {
 public:
  // Returns a warning if the system has refused memory since the last one, at most once a minute.
  std::optional<std::string> examine(const HeldAndRefused& state, std::uint64_t now_ns);

 private:
  std::uint64_t warned_refusals_ = 0;
  std::optional<std::uint64_t> warned_ns_;
};

}  // namespace falafel::server_program
