// The physical memory of this process.
#pragma once

#include <cstdint>

namespace falafel::processes {

// The memory that the process holds now; 0 if the system does not say.
std::uint64_t resident_bytes();

// Returns memory that the program has freed to the system, with glibc's allocator or tcmalloc.
void release_free_memory();

}  // namespace falafel::processes
