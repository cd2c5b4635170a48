// Reads the contents of the server's memory at rest without the engine's algorithms, from the
// layouts alone. Reports the contents and every inconsistency.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/layout/key_hash.h"
#include "engine/server/server.h"

namespace falafel::engine_test {

using Bytes = std::vector<std::byte>;
using Contents = std::map<Bytes, Bytes>;

struct FinalState {
  Contents contents;                  // the live keys
  std::uint64_t deleted_keys = 0;     // deleted entries
  std::uint64_t container_bytes = 0;  // of all entries including deleted ones, in whole units
  std::vector<std::string> problems;
};

// Requires that all clients have left and the server is idle.
FinalState read_final_state(std::span<const std::byte> chunk, const engine::Geometry& geometry,
                            const engine::HashKey& hash_key,
                            const engine::ServerInspection& inspection);

}  // namespace falafel::engine_test
