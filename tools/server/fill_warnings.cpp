#include "tools/server/fill_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "engine/layout/container.h"
#include "engine/layout/entry.h"

namespace falafel::server_program {
namespace {

constexpr double full_table_share = 0.9;
constexpr double wasted_memory_share = 0.75;
constexpr double wasted_table_share = 0.5;

// The bytes of the entry's container; 0: it has no value, or clients have damaged it.
std::uint64_t live_bytes_of(engine::Entry entry, engine::Server& server) {
  const engine::Geometry& geometry = server.geometry();
  const std::uint64_t offset = geometry.to_offset(entry.reference());
  std::array<std::byte, engine::container_header_bytes> bytes{};
  if (entry.is_deleted() || !geometry.may_hold_container(offset) ||
      !server.holds(offset, bytes.size())) {
    return 0;
  }
  server.memory().read(offset, bytes);
  const auto header = engine::read_container_header(bytes, engine::Verification::on);
  return header ? geometry.round_up_to_unit(header->container_bytes()) : 0;
}

std::uint64_t capacity_bytes(const engine::Geometry& geometry) {
  const std::uint64_t spaces = geometry.has_blocks() ? geometry.mature_space_count : 1;
  return spaces * geometry.mature_bytes;
}

double percent(double share) { return 100 * share; }

}  // namespace

Fill fill_of(engine::Server& server) {
  constexpr std::uint64_t most_samples = 1'024;
  const engine::Geometry& geometry = server.geometry();
  const std::uint32_t table = server.inspect().tables.last;
  const std::uint64_t entries = geometry.entries_of(table);
  const std::uint64_t samples = std::min(most_samples, entries);
  std::uint64_t occupied = 0;
  double live_bytes = 0;
  for (std::uint64_t sample = 0; sample < samples; ++sample) {
    const std::uint64_t slot = geometry.first_slot(table) + sample * (entries / samples);
    const engine::Entry entry(server.memory().load(geometry.entry_offset(slot)));
    if (entry.is_empty()) continue;
    ++occupied;
    live_bytes += static_cast<double>(live_bytes_of(entry, server));
  }
  const auto entries_per_sample = static_cast<double>(entries) / static_cast<double>(samples);
  return {.table_share = static_cast<double>(occupied) / static_cast<double>(samples),
          .memory_share =
              live_bytes * entries_per_sample / static_cast<double>(capacity_bytes(geometry)),
          .requests_denied = server.books().requests_denied,
          .table = table};
}

std::optional<std::string> FillWarnings::examine(const engine::Geometry& geometry,
                                                 const Fill& fill) {
  const std::uint64_t table_entries = geometry.entries_of(fill.table);
  const bool may_grow = fill.table + 1 < geometry.most_tables;
  const bool is_table_alone =
      !may_grow && fill.table_share >= full_table_share && fill.memory_share < wasted_memory_share;
  if (is_table_alone && !std::exchange(has_warned_of_table_, true)) {
    return fmt::format(
        "{:.0f} % of the {} entries of the table are in use, but only {:.0f} % of the memory for "
        "values; SETs become slow, and fail when the table is full. Serve with more --entries",
        percent(fill.table_share), table_entries, percent(fill.memory_share));
  }
  const bool is_memory_alone = fill.requests_denied > 0 && fill.table_share < wasted_table_share;
  if (is_memory_alone && !std::exchange(has_warned_of_memory_, true)) {
    return fmt::format(
        "the memory for values is full, but only {:.0f} % of the {} entries of the table are in "
        "use. Serve with more --memory or --max-memory, or with fewer --entries, which leave more "
        "of it for values",
        percent(fill.table_share), table_entries);
  }
  return std::nullopt;
}

std::optional<std::string> RefusalWarnings::examine(const HeldAndRefused& state,
                                                    std::uint64_t now_ns) {
  constexpr std::uint64_t interval_ns = 60'000'000'000;
  const bool is_new = state.refusals > warned_refusals_;
  if (!is_new || (warned_ns_ && now_ns - *warned_ns_ < interval_ns)) return std::nullopt;
  warned_refusals_ = state.refusals;
  warned_ns_ = now_ns;
  return fmt::format(
      "the system has no more memory: the store holds {} of at most {} bytes, and SETs that need "
      "more are refused. Free memory on this machine (or space on the file system of "
      "--memory-file); the store tries again",
      state.held_bytes, state.limit_bytes);
}

}  // namespace falafel::server_program
