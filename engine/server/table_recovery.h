// The table of a store whose server starts over its memory: removes what a cleanup of the former
// process left, and deleted entries' need of memory.
//
// A removal (entry_removal.h) leaves at most two locks. An entry that it has moved is still in its
// old slot, locked, until the slot is filled or emptied. Its key is then bound in an earlier slot
// of its chain as well, where clients may have changed it since. A move to the next table
// (table_growth.h) leaves at most one lock, and the key may be bound in a later table as well. So a
// locked entry whose key an earlier slot or a later table has becomes a deleted entry without a
// key, and every other lock is removed.
//
// All deleted entries then become entries without a key. Their containers are not needed any more,
// so the collections that follow copy live containers only.
//
// Nobody else may change the table. The process may end at any step; docs/protocol.md ("A server
// that starts over its memory") proves that another run then comes to the same result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/server/chain.h"
#include "engine/server/chunk.h"
#include "engine/server/pace.h"
#include "engine/server/server_options.h"
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
  bool has_moved(std::uint64_t slot, Entry entry);
  bool is_found(Chain chain, std::span<const std::byte> key);
  bool has_key(std::uint64_t slot, std::span<const std::byte> key) const;
  void replace(std::uint64_t slot, Entry next);

  fabric::Host& host_;
  const Chunk& chunk_;
  const Safeguards& safeguards_;
  Pace pace_;
};

}  // namespace falafel::engine
