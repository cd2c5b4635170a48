#include "stores/pilaf/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "stores/option_range.h"
#include "stores/pilaf/hashing.h"
#include "stores/pilaf/log_record.h"
#include "stores/pilaf/messages.h"
#include "stores/pilaf/requests.h"

namespace falafel::pilaf {
namespace {

using stores::find_out_of_range;

// The sum of a few such durations and a point in time does not overflow.
constexpr std::uint64_t longest_duration_ns = std::uint64_t{1} << 62;
constexpr std::uint64_t largest_table_entries = std::uint64_t{1} << 40;
constexpr std::uint32_t largest_request_bytes = 1U << 30;

std::optional<std::string> find_bad_extents(const Options& options) {
  const std::uint64_t block = options.min_block_bytes;
  if (block == 0 || block % fabric::word_bytes != 0) {
    return fmt::format("min_block_bytes is {} but must be a multiple of {}", block,
                       fabric::word_bytes);
  }
  if (options.extents_bytes % block == 0 && std::has_single_bit(options.extents_bytes / block)) {
    return std::nullopt;
  }
  return fmt::format("extents_bytes is {} but must be min_block_bytes ({}) times a power of two",
                     options.extents_bytes, block);
}

std::optional<std::string> find_bad_log(const Options& options) {
  if (options.log == Logging::off) return std::nullopt;
  if (options.log_name.empty()) return "log_name is empty but names the log";
  if (options.log_bytes % fabric::word_bytes == 0 && options.log_bytes >= log_header_bytes) {
    return std::nullopt;
  }
  return fmt::format("log_bytes is {} but must be a multiple of {}, of at least {}",
                     options.log_bytes, fabric::word_bytes, log_header_bytes);
}

}  // namespace

std::optional<std::string> find_invalid_option(const Options& options,
                                               const fabric::DeviceAttributes& device) {
  const std::uint32_t most_request_bytes =
      std::min(device.max_message_bytes, largest_request_bytes);
  const std::uint32_t most_receives =
      std::min(device.max_queue_requests, device.max_completions) / 2;
  const std::array problems{
      find_out_of_range("table_entries", options.table_entries, 1, largest_table_entries),
      find_bad_extents(options),
      find_out_of_range("ways", options.ways, 1, most_ways),
      find_out_of_range("max_kicks", options.max_kicks, 1, 1'000'000),
      find_out_of_range("receives", options.receives, 1, most_receives - 1),
      find_out_of_range(
          "max_clients", options.max_clients, 1,
          device.max_completions / server_ends_options(options).completions_per_client()),
      find_out_of_range("largest_request_bytes", options.largest_request_bytes,
                        sizeof(RequestHeader) + 1, most_request_bytes),
      find_out_of_range("flush_timeout_ns", options.flush_timeout_ns, 1, longest_duration_ns),
      find_bad_log(options),
      find_out_of_range("log_delay_ns", options.log_delay_ns, 0, longest_duration_ns),
      find_out_of_range("probe_ahead", options.probe_ahead, 1, most_ways),
      find_out_of_range("server_timeout_ns", options.server_timeout_ns, 1, longest_duration_ns),
      find_out_of_range("reconnect_pause_ns", options.reconnect_pause_ns, 1, longest_duration_ns),
      find_out_of_range("check_interval_ns", options.check_interval_ns, 1, longest_duration_ns),
      find_out_of_range("acknowledge_timeout_ns", options.acknowledge_timeout_ns, 1,
                        longest_duration_ns),
      find_out_of_range("retry_count", options.retry_count, 0, 7)};
  return stores::first_of(problems);
}

}  // namespace falafel::pilaf
