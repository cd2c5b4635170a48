// How much memory the process uses: allocations made, bytes allocated, pages of stacks touched.
#pragma once

#include <cstdint>

namespace falafel::benchmark_programs {

// Calls of operator new so far. The meter replaces it in every program that links it.
std::uint64_t allocation_count();

// Bytes that the C library's allocator has handed out and not got back.
std::uint64_t allocated_bytes();

// Bytes of the calling fiber's stack that have been touched since it was mapped.
std::uint64_t touched_stack_bytes();

}  // namespace falafel::benchmark_programs
