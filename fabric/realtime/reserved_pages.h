// Private memory of this process whose pages the system provides when the process commits them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fabric/error.h"

namespace falafel::fabric {

// Maps an address range that holds no memory of the system. The caller unmaps it. Errors:
// out_of_memory (no address range of that size).
Result<std::span<std::byte>> reserve_pages(std::uint64_t size_bytes);

// Takes the pages of these bytes from the system, so that a later access does not need any. Pages
// that are there keep their content. The last memory of the system stays for others
// (memory_left_to_others_bytes). Errors: out_of_memory.
Result<void> commit_pages(std::span<std::byte> bytes);

// Gives the whole pages among these bytes back to the system. They are zero at their next use.
void give_back_pages(std::span<std::byte> bytes);

}  // namespace falafel::fabric
