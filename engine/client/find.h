// FIND (Behringer 3.5.1): the slot of a key, or the empty slot where it would go.
//
// The search starts at the key's home slot and goes on, slot by slot and round the table's end, until an
// entry's container has the key or an entry is empty (linear probing, Knuth). Entries come in chunks,
// and containers of several entries at once (4.3.3). Deleted entries are passed or found like others. A
// locked entry, or a container that does not verify, means that the server is moving things: the search
// starts over. If the container does not verify under the same entry again, it is damaged. The search then
// goes on behind it, as behind a foreign key, so that what is further on stays in reach.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/client/operation.h"
#include "engine/layout/container.h"
#include "engine/layout/entry.h"

namespace falafel::engine {

enum class FindOutcome : std::uint8_t {
  occupied,       // the entry has the key; it may be deleted
  empty,          // the key is not in the table and would go here
  table_walked,   // nor is there an empty slot
  corrupted,      // nor is it elsewhere in its chain, but it may be in a container that is damaged
  out_of_memory,  // of this host, for what had to be read
  timed_out,      // an entry stays locked, or others change entries again and again
  disconnected,
};

struct FindResult {
  FindOutcome outcome = FindOutcome::disconnected;
  std::uint64_t slot = 0;       // occupied, empty; corrupted: of the first such container
  Entry entry{};                // the same: as it was read
  ContainerHeader header{};     // occupied
  bool met_deleted = false;     // table_walked: some entries are deleted
  LoadedContainer container{};  // occupied: the key at least; until the operation's next request
};

// Waits.
FindResult find(Operation& operation, std::span<const std::byte> key);

}  // namespace falafel::engine
