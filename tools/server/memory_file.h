// The file that a store is in (falafel serve --memory-file): it outlives the server's process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "engine/layout/geometry.h"
#include "engine/server/server.h"
#include "fabric/error.h"
#include "tools/server/sizing.h"

namespace falafel::server_program {

// Returns the geometry of the store in the file; nothing if there is no store yet. Errors: those of
// fabric::examine_kept_file, invalid_argument (what is in the file is not a store).
fabric::Result<std::optional<engine::Geometry>> find_store_in(const std::string& path);

// The sizes on the command line. An absent one is as in the file.
struct GivenSizes {
  bool memory = false;
  bool semi_spaces = false;
};

// Returns a message that names the first option in which the store in the file differs.
std::optional<std::string> find_other_size(const engine::Geometry& stored,
                                           const SizingOptions& sizing, const GivenSizes& given,
                                           bool is_cache);

// Reads the whole table. Clients may change it meanwhile.
std::uint64_t count_keys(engine::Server& server);

}  // namespace falafel::server_program
