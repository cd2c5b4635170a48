#include "stores/c_hint/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "stores/option_range.h"

namespace falafel::c_hint {
namespace {

using stores::find_out_of_range;

// The sum of a few such durations and a point in time does not overflow.
constexpr std::uint64_t longest_duration_ns = std::uint64_t{1} << 59;
constexpr std::uint64_t largest_items_bytes = std::uint64_t{1} << 43;
constexpr std::uint32_t least_message_bytes = 128;
constexpr std::uint32_t most_message_bytes = 1U << 30;
constexpr std::uint32_t most_queues = 64;
constexpr std::uint32_t most_communication_threads = 64;

std::optional<std::string> find_bad_memory(const Options& options) {
  const std::uint64_t block = options.min_block_bytes;
  if (block == 0 || block % fabric::word_bytes != 0) {
    return fmt::format("min_block_bytes is {} but must be a multiple of {}", block,
                       fabric::word_bytes);
  }
  if (options.items_bytes > largest_items_bytes || options.items_bytes % block != 0 ||
      !std::has_single_bit(options.items_bytes / block)) {
    return fmt::format("items_bytes is {} but must be min_block_bytes ({}) times a power of two",
                       options.items_bytes, block);
  }
  if (!std::has_single_bit(options.shards) || options.shards > options.items_bytes / block) {
    return fmt::format(
        "shards is {} but must be a power of two, and at most the {} blocks of memory",
        options.shards, options.items_bytes / block);
  }
  return std::nullopt;
}

}  // namespace

Options original(Options options) {
  options.lease = LeaseKind::endless;
  options.replacement = ReplacementKind::lru;
  options.report_interval_ns = 0;
  return options;
}

// Without READs, nobody needs a lease.
Options lru(Options options) {
  options.gets = GetPath::messages;
  options.lease = LeaseKind::fixed;
  options.fixed_term_ns = 0;
  options.replacement = ReplacementKind::lru;
  options.report_interval_ns = 0;
  return options;
}

Options multi_queue(Options options) {
  options = lru(options);
  options.replacement = ReplacementKind::multi_queue;
  return options;
}

Options approximate_lru(Options options) {
  options.lease = LeaseKind::fixed;
  options.replacement = ReplacementKind::lru;
  return options;
}

Options static_terms(Options options, std::uint64_t term_ns) {
  options.lease = LeaseKind::fixed;
  options.fixed_term_ns = term_ns;
  return options;
}

std::optional<std::string> find_invalid_option(const Options& options,
                                               const fabric::DeviceAttributes& device) {
  const std::uint32_t most_bytes = std::min(device.max_message_bytes, most_message_bytes);
  const std::array problems{
      find_bad_memory(options),
      find_out_of_range("communication_threads", options.communication_threads,
                        options.shards > 1 ? 1 : 0, most_communication_threads),
      find_out_of_range("least_contiguous_percent", options.least_contiguous_percent, 0, 100),
      find_out_of_range("queues", options.queues, 1, most_queues),
      find_out_of_range("unit_of_empty_memory_ns", options.unit_of_empty_memory_ns, 0,
                        longest_duration_ns / most_queues),
      find_out_of_range("unit_of_full_memory_ns", options.unit_of_full_memory_ns, 0,
                        options.unit_of_empty_memory_ns),
      find_out_of_range("fixed_term_ns", options.fixed_term_ns, 0, longest_duration_ns),
      find_out_of_range("clock_error_ns", options.clock_error_ns, 0, longest_duration_ns),
      find_out_of_range("report_interval_ns", options.report_interval_ns, 0, longest_duration_ns),
      find_out_of_range("report_budget_ns", options.report_budget_ns, 0, longest_duration_ns),
      find_out_of_range("picks_per_list", options.picks_per_list, 1, most_message_bytes),
      find_out_of_range("container_bytes", options.container_bytes, least_message_bytes,
                        most_bytes),
      find_out_of_range("pointers", options.pointers, 1, longest_duration_ns),
      find_out_of_range("max_clients", options.max_clients, 1, device.max_completions / 8),
      find_out_of_range("largest_message_bytes", options.largest_message_bytes, least_message_bytes,
                        most_bytes),
      find_out_of_range("server_timeout_ns", options.server_timeout_ns, 1, longest_duration_ns),
      find_out_of_range("reconnect_pause_ns", options.reconnect_pause_ns, 1, longest_duration_ns),
      find_out_of_range("check_interval_ns", options.check_interval_ns, 1, longest_duration_ns),
      find_out_of_range("acknowledge_timeout_ns", options.acknowledge_timeout_ns, 1,
                        longest_duration_ns),
      find_out_of_range("retry_count", options.retry_count, 0, 7)};
  return stores::first_of(problems);
}

}  // namespace falafel::c_hint
