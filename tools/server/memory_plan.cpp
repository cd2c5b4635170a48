#include "tools/server/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace falafel::server_program {
namespace {

// The largest memory that entries can refer to, in units of 64 bytes.
constexpr std::uint64_t largest_limit_bytes = std::uint64_t{1} << 38U;
constexpr std::uint64_t first_table_entries = 65'536;

std::uint64_t default_limit_bytes(const MemorySizes& sizes, const MachineMemory& machine) {
  if (sizes.fills_up) return fixed_memory_bytes;
  const std::uint64_t half = machine.available_bytes.value_or(2 * fixed_memory_bytes) / 2;
  return std::clamp(half, fixed_memory_bytes / 8, largest_limit_bytes);
}

MemoryPlan fixed(SizingOptions sizing, const MemorySizes& sizes) {
  sizing.memory_bytes = sizes.memory_bytes.value_or(fixed_memory_bytes);
  return {.sizing = sizing};
}

// The table begins small, and has room for as many keys as a table of a fixed memory.
void let_table_grow(SizingOptions& sizing) {
  if (sizing.table_entries) return;
  const std::uint64_t wanted = std::max<std::uint64_t>(
      sizing.most_entries.value_or(sizing.memory_bytes / bytes_per_entry), 1);
  sizing.table_entries = std::min(first_table_entries, wanted);
  if (sizing.most_entries) return;
  sizing.most_entries = sizing.table_entries;
  while (*sizing.most_entries < wanted) *sizing.most_entries *= 2;
}

}  // namespace

tl::expected<MemoryPlan, std::string> plan_memory(SizingOptions sizing, const MemorySizes& sizes,
                                                  const MachineMemory& machine) {
  if (sizes.max_memory_bytes && !machine.obstacle.empty()) {
    return tl::unexpected(fmt::format(
        "--max-memory: {}, so memory is pinned from the start and cannot grow; use --memory",
        machine.obstacle));
  }
  if (sizes.max_memory_bytes && sizing.semi_spaces) {
    return tl::unexpected<std::string>(
        "--max-memory: semi-spaces do not grow; leave out --semi-spaces, or use --memory");
  }
  const bool grows_unasked =
      machine.grows_unasked && machine.obstacle.empty() && !sizing.semi_spaces;
  if (!sizes.max_memory_bytes && (sizes.memory_bytes || !grows_unasked)) {
    return fixed(sizing, sizes);
  }
  sizing.memory_bytes = sizes.max_memory_bytes.value_or(default_limit_bytes(sizes, machine));
  const std::uint64_t least_held_bytes =
      sizes.memory_bytes.value_or(std::min(least_memory_bytes, sizing.memory_bytes));
  if (least_held_bytes > sizing.memory_bytes) {
    return tl::unexpected(fmt::format(
        "--max-memory {} is less than the {} of --memory with which the store begins; increase it, "
        "or make --memory smaller",
        sizing.memory_bytes, least_held_bytes));
  }
  let_table_grow(sizing);
  return MemoryPlan{.sizing = sizing, .grows = true, .least_held_bytes = least_held_bytes};
}

}  // namespace falafel::server_program
