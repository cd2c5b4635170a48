// The table of a store whose server starts over its memory: removes what a cleanup of the former
// process left, and deleted entries' need of memory.
//
// A removal (entry_removal.h) leaves at most two locks. An entry that it has moved is still in its
// old slot, locked, until the slot is filled or emptied. Its key is then bound in an earlier slot
// of its chain as well, where clients may have changed it since. So a locked entry whose key an
// earlier slot has becomes a deleted entry without a key, and every other lock is removed.
//
// All deleted entries then become entries without a key. Their containers are not needed any more,
// so the collections that follow copy live containers only.
//
// Nobody else may change the table. The process may end at any step; docs/protocol.md ("A server
// that starts over its memory") proves that another run then comes to the same result.
#pragma once

#include <cstdint>

#include "engine/server/chunk.h"
#include "engine/server/pace.h"
#include "engine/server/server.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class TableRecovery {
 public:
  TableRecovery(fabric::Host& host, const Chunk& chunk, const ServerOptions& options);

  // May wait, but only to let other fibers run. Returns the rebinding counter.
  std::uint64_t run();

 private:
  void remove_locks();
  void forget_deleted_keys();
  std::uint64_t end_rebinding();

  Entry without_lock(std::uint64_t slot, Entry locked);
  bool is_bound_before(std::uint64_t slot, Entry entry);
  void replace(std::uint64_t slot, Entry next);

  fabric::Host& host_;
  const Chunk& chunk_;
  const Safeguards& safeguards_;
  Pace pace_;
};

}  // namespace falafel::engine
