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

}  // namespace falafel::server_program
