// The server's memory as a connected client knows it. Constant for the lifetime of a session.
#pragma once

#include <cstdint>

#include "engine/layout/container.h"
#include "engine/layout/geometry.h"
#include "engine/layout/key_hash.h"

namespace falafel::engine {

struct ServerMemory {
  Geometry geometry{};
  std::uint64_t chunk_bytes = 0;  // follows from the geometry
  // Limited by the size of a region and by the largest request of this host's device, because a
  // client writes a container with one request.
  std::uint64_t largest_container_bytes = 0;
  HashKey hash_key{};
  std::uint64_t incarnation = 0;
  std::uint32_t chunk_key = 0;
  std::uint32_t table_key = 0;
  std::uint32_t later_tables_key = 0;  // of a store whose table can grow
  // The range of the containers besides the stand-in. It follows from the geometry, too; a search
  // asks for every candidate.
  std::uint64_t containers_begin = 0;
  std::uint64_t containers_end = 0;

  bool may_hold_container(std::uint64_t offset) const {
    return offset == Geometry::stand_in_offset() ||
           (offset >= containers_begin && offset + container_header_bytes <= containers_end);
  }
};

}  // namespace falafel::engine
