// What the server's memory holds once nobody changes it any more, read without the engine's algorithms:
// the layouts alone say what is there. Beside the contents it reports whatever must not be.
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
  std::uint64_t deleted_keys = 0;     // tombstones
  std::uint64_t container_bytes = 0;  // of all entries, tombstones too, in whole units
  std::vector<std::string> problems;
};

// All clients are gone and the server is idle.
FinalState read_final_state(std::span<const std::byte> chunk, const engine::Geometry& geometry,
                            const engine::HashKey& hash_key,
                            const engine::ServerInspection& inspection);

}  // namespace falafel::engine_test
