// The server's bookkeeping while clients are connected. Properties: "books.overcommitted",
// "books.no-owner", "books.mature-spaces".
#pragma once

#include <cstdint>
#include <span>

#include "checkers/judgement.h"
#include "checkers/memory_view.h"

namespace falafel::checkers {

// Must hold at any moment: exactly one mature space is active, no mature space is filled beyond its
// end, and the active one has room for every region that is granted or queued for collection, even
// if the region is full of live data. A region that is being collected counts twice, because its
// moved containers are already in the mature space.
Judgement check_mature_spaces(const MemoryView& view);

// Must hold between two steps of the server: the owner of every granted region is connected.
// `clients` holds the numbers of the connected clients.
Judgement check_owners(std::span<const engine::RegionInspection> regions,
                       std::span<const std::uint32_t> clients);

}  // namespace falafel::checkers
