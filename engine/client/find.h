// FIND (Behringer 3.5.1) returns the slot of a key, or the empty slot into which it would be
// inserted.
//
// The search starts at the key's home slot and visits slot after slot, wrapping around at the end
// of the table, until an entry's container has the key or an entry is empty (linear probing,
// Knuth). It reads entries in chunks and the containers of several entries at once (4.3.3). It
// skips entries whose fingerprint is not that of the key (engine/layout/references.h). Deleted
// entries are compared like others.
//
// While the table grows, the search goes on in the next table behind a frozen entry
// (docs/protocol.md, "A table that grows").
//
// A locked entry, or a container that does not verify, indicates that the server is moving data, so
// the search restarts. If the container under an unchanged entry again fails to verify, it is
// damaged. The search then continues as if the entry belonged to another key, so that later entries
// of the chain remain reachable.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/client/pending_operation.h"
#include "engine/layout/container.h"
#include "engine/layout/entry.h"
#include "engine/layout/key_hash.h"

namespace falafel::engine {

enum class FindOutcome : std::uint8_t {
  occupied,       // the entry has the key; it may be deleted
  empty,          // the key is not in the table and would be inserted here
  table_walked,   // the key is not in the table, whose last one has no empty slot
  corrupted,      // the key may be in a damaged container; it is nowhere else in its chain
  out_of_memory,  // this host has no memory for the data to be read
  timed_out,      // an entry stays locked, or others change entries repeatedly
  disconnected,
};

struct FindResult {
  FindOutcome outcome = FindOutcome::disconnected;
  std::uint64_t slot = 0;          // occupied, empty; corrupted: of the first damaged container
  Entry entry{};                   // the entry of that slot, as it was read
  ContainerHeader header{};        // occupied
  bool is_in_later_table = false;  // empty: the walk went on from another table
  bool met_deleted = false;        // table_walked: the last table has deleted entries
  bool may_grow = false;           // table_walked: the server can begin another table
  // occupied: at least the key; valid until the operation's next request
  LoadedContainer container{};
};

// Waits.
FindResult find(PendingOperation& operation, const HashedKey& key);

}  // namespace falafel::engine
