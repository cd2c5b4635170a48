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

struct StoreInFile {
  engine::Geometry geometry;
  bool has_holes = false;  // its memory has grown to a part of the file only
};

// Returns the store in the file; nothing if there is no store yet. Errors: those of
// fabric::examine_kept_file, invalid_argument (what is in the file is not a store).
fabric::Result<std::optional<StoreInFile>> find_store_in(const std::string& path);

// The free space of the file system on which the file is, or will be. Returns nothing if the path
// is empty, or the system does not tell.
std::optional<std::uint64_t> free_bytes_beside(const std::string& path);

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
