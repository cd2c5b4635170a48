// Measures the process's memory: number of allocations, allocated bytes, touched stack pages.
#pragma once

#include <cstdint>

namespace falafel::simulator_benchmark {

// Number of calls of operator new so far. The meter replaces operator new in every program that
// links it.
std::uint64_t allocation_count();

// Bytes that the C library's allocator has handed out and that have not been freed.
std::uint64_t allocated_bytes();

// Bytes of the calling fiber's stack that have been touched since it was mapped.
std::uint64_t touched_stack_bytes();

}  // namespace falafel::simulator_benchmark
