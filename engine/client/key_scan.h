// A scan of all keys of the store, by READs of the table and of the containers.
//
// The scan must not miss a key that the cleanup moves meanwhile, so it goes through the table
// against the direction of searches:
//
// 1. The cleanup moves an entry only backward, toward its home slot, and never past it
//    (docs/protocol.md, "Removing a deleted entry"). Nobody else moves entries.
// 2. The scan first finds an empty slot e. When it reads e, no key has e between its home slot and
//    its own slot, because every key is reachable. Number the other slots from e on, around the
//    table: the home slot of a key then has no higher number than the key's slot. By 1, from now
//    on the number of a key's slot only falls, and the key never passes e.
// 3. The scan reads the slots in chunks from the highest number down to the lowest, and the words
//    of each chunk twice. It repeats that if a word was locked, or if between its two readings the
//    tag of a word advanced by more than one. Otherwise it visits the keys of all live words of
//    both readings. A key that is in slots of the chunk all the time from the start of the first
//    reading to the end of the second is then visited: suppose that neither reading found it, and
//    let it be in slot p between them. The first reading then read p before the server moved the
//    key to p, and the second read p after the server moved it away. The move to p was one new tag.
//    The word that is left behind is locked, and the next one has another new tag. So the second
//    word would be locked, or its tag would have advanced by two.
// 4. Suppose that a key is in the store during the whole scan. When the scan starts to read a
//    chunk, the key was visited, or its slot is in the chunk or has a lower number: for the first
//    chunk by 2. If the key then is not in the chunk all the time, and so visited by 3, its slot
//    has a lower number than the chunk when the next one starts. No slot has a lower number than
//    the last chunk, so the key is visited.
//
// If no slot is empty, the scan numbers the slots from any slot on, and reads the table twice
// around less one slot: a key that passes the first number comes no further than to its home slot,
// which is less than a table away from where the key was at first. Steps 3 and 4 hold for these
// numbers.
//
// A key that others overwrite all the time advances the tag of its slot. After the first such
// change, the scan therefore also reads the server's counter of rebindings before and after the
// words: if it was the same even number, no entry was moved meanwhile, and each reading alone has
// all keys of the chunk.
//
// While the table grows, keys also move from a table to a later one, and never back. The scan goes
// through the tables in use in their order, and reads from the status line which these are, at its
// beginning and again at the end of the last one it knows. Suppose that a key is in the store
// during the whole scan. When the scan of a table begins, the key was visited, or is in that table
// or a later one. If it stays in the table, it is visited by the above: nothing but a move to a
// later table empties a slot there of a key once the cleanup has left the table. In a chunk, a key
// that moves to a later table between the two readings is visited, or the first reading met the
// lock, or the key was in the later table before. Otherwise it is in a later table when the next
// scan begins. At the end of the last table in use, no later table has a key. A key that moves may
// be visited in both tables.
//
// The cleanup of the thesis moves entries in both directions, so this does not hold for
// Safeguards::published().
#pragma once

#include <tl/expected.hpp>

#include "engine/client/key_and_value.h"
#include "engine/client/operation_context.h"

namespace falafel::engine {

// As Client::for_each_key(). Each chunk is an operation of its own, so the scan does not delay the
// server's reclamation however long it takes.
tl::expected<void, Answer> for_each_key(const OperationContext& context, const VisitPair& visit,
                                        const VisitDamaged& visit_damaged);

}  // namespace falafel::engine
