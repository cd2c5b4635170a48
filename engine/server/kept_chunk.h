// Gets the memory of a server's chunk: new memory, or what a former process of the server left
// (ServerOptions::kept_memory).
//
// Memory is new until its superblock has the magic number, which is the last word that a server
// writes when it creates a chunk. If the process ends before that, the next one creates the chunk
// again, and finds zero everywhere else.
#pragma once

#include "engine/server/chunk.h"
#include "engine/server/server_options.h"
#include "fabric/fabric.h"

namespace falafel::engine {

struct OpenedChunk {
  Chunk chunk;
  bool is_new = true;
};

// Changes nothing in memory that is not new. Errors: those of Host::allocate_memory or
// Host::keep_memory; invalid_argument (the memory is not that of a store with these options; the
// message names the field).
fabric::Result<OpenedChunk> open_chunk(fabric::Host& host, const ServerOptions& options);

}  // namespace falafel::engine
