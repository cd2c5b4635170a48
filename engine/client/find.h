// FIND (Behringer 3.5.1): the slot of a key, or the empty slot where it would go.
//
// The search starts at the key's home slot and goes on, slot by slot and round the table's end, until an
// entry's container has the key or an entry is empty (linear probing, Knuth). Entries come in chunks,
// and containers of several entries at once (4.3.3). Deleted entries are passed or found like others. A
// locked entry, or a container that fails its checksum, means that the server is moving things: the
// search starts over.
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
  corrupted,      // a container does not verify under an entry that does not change
  out_of_memory,  // of this host, for what had to be read
  disconnected,
};

struct FindResult {
  FindOutcome outcome = FindOutcome::disconnected;
  std::uint64_t slot = 0;       // occupied, empty
  Entry entry{};                // occupied, empty: as it was read
  ContainerHeader header{};     // occupied
  LoadedContainer container{};  // occupied: the key at least; until the operation's next request
};

// What GET and DELETE answer when there is no entry to look at; none if there is one.
std::optional<Answer> answer_without_entry(FindOutcome outcome);

// Waits.
FindResult find(Operation& operation, std::span<const std::byte> key);

}  // namespace falafel::engine
