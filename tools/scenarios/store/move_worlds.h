// Scenarios in which the cleanup moves keys all the time, while clients look for these keys.
//
// The keys form one chain at the start of the table. The first client fills it and removes all of
// its keys but the last one, again and again, so the cleanup moves that key through the chain. In
// some worlds it removes only the first one, so the cleanup moves all others. The other clients GET
// and overwrite the keys, or scan them.
//
// The moves that others must not overlook happen between two words of a READ, or between two swaps
// of the server. READs and swaps therefore stall often, and as long as a move takes. If clients
// scan, READs have all words of the chain, and the server's processor usually moves entries, which
// takes few steps. If they search, READs are short, and the server's device usually makes the
// swaps.
#pragma once

#include <cstdint>

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

enum class MovesBeside : std::uint8_t { searches, scans };

// `scenario` is complete otherwise. It has no hostile client afterwards.
void make_keys_move(fabric::RandomGenerator& random, MovesBeside beside, Scenario& scenario);

// The table of `scenario` grows. It begins with an entry without a key, as a recovery leaves it,
// and the next one is empty. Clients GET keys that are absent and whose search begins at these two,
// while another client fills the rest of the table until it grows. In half of the scenarios, it
// also stores a key behind them, which the cleanup may move to the first one.
void make_table_grow_beside_searches(fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
