// The server's books while clients are connected.
// Properties: "books.overcommitted", "books.no-owner", "books.mature-spaces".
#pragma once

#include <cstdint>
#include <span>

#include "checkers/judgement.h"
#include "checkers/memory_view.h"

namespace falafel::checkers {

// At any moment: one mature space is active, none is filled beyond its end, and the active one has room for
// every region that is granted or waits for its collection, full of live data. (A region that is being
// collected is in both: what was moved is in the mature space already.)
Judgement check_mature_spaces(const MemoryView& view);

// Between two steps of the server: whoever has a region is there. `clients`: the numbers of those who are.
Judgement check_owners(std::span<const engine::RegionInspection> regions,
                       std::span<const std::uint32_t> clients);

}  // namespace falafel::checkers
