#include "stores/race/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "stores/option_range.h"
#include "stores/race/layout.h"

namespace falafel::race {
namespace {

using stores::find_out_of_range;

// The sum of a few such durations and a point in time does not overflow.
constexpr std::uint64_t longest_duration_ns = std::uint64_t{1} << 62;
constexpr std::uint64_t most_units = std::uint64_t{1} << (unit_bits - 1);

std::optional<std::string> find_bad_units(std::string_view name, std::uint64_t bytes,
                                          std::uint64_t most) {
  if (bytes % unit_bytes == 0 && bytes > 0 && bytes <= most * unit_bytes) return std::nullopt;
  return fmt::format("{} is {} but must be a multiple of {}, of at most {}", name, bytes,
                     unit_bytes, most * unit_bytes);
}

std::optional<std::string> find_bad_heap(const Options& options) {
  if (auto problem = find_bad_units("heap_bytes", options.heap_bytes, most_units)) return problem;
  if (std::has_single_bit(options.heap_bytes / unit_bytes)) return std::nullopt;
  return fmt::format("heap_bytes is {} but must be {} times a power of two", options.heap_bytes,
                     unit_bytes);
}

}  // namespace

std::optional<std::string> find_invalid_option(const Options& options,
                                               const fabric::DeviceAttributes& device) {
  constexpr std::uint64_t most_groups = std::uint64_t{1} << 32;
  const std::array problems{
      find_out_of_range("groups_per_subtable", options.groups_per_subtable, 1, most_groups),
      find_out_of_range("slots_per_bucket", options.slots_per_bucket, 1, 255),
      find_out_of_range("fingerprint_bits", options.fingerprint_bits, 0, 8),
      find_out_of_range("most_depth", options.most_depth, 0, most_depth),
      find_out_of_range("initial_depth", options.initial_depth, 0, options.most_depth),
      find_bad_heap(options),
      find_bad_units("segment_bytes", options.segment_bytes, options.heap_bytes / unit_bytes),
      find_bad_units("most_block_bytes", options.most_block_bytes,
                     std::min<std::uint64_t>(most_block_units, options.segment_bytes / unit_bytes)),
      find_out_of_range("max_clients", options.max_clients, 1, device.max_completions / 2),
      find_out_of_range("longest_back_off_ns", options.longest_back_off_ns, 1, longest_duration_ns),
      find_out_of_range("server_timeout_ns", options.server_timeout_ns, 1, longest_duration_ns),
      find_out_of_range("reconnect_pause_ns", options.reconnect_pause_ns, 1, longest_duration_ns),
      find_out_of_range("check_interval_ns", options.check_interval_ns, 1, longest_duration_ns),
      find_out_of_range("acknowledge_timeout_ns", options.acknowledge_timeout_ns, 1,
                        longest_duration_ns),
      find_out_of_range("retry_count", options.retry_count, 0, 7)};
  return stores::first_of(problems);
}

}  // namespace falafel::race
