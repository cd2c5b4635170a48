#include "stores/two_sided/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "stores/option_range.h"
#include "stores/two_sided/layout.h"

namespace falafel::two_sided {
namespace {

using stores::find_out_of_range;

// The sum of a few such durations and a point in time does not overflow.
constexpr std::uint64_t longest_duration_ns = std::uint64_t{1} << 62;
constexpr std::uint64_t most_buckets = 1U << 30;
constexpr std::uint64_t largest_most_pairs = 1U << 31;

bool is_supported(fabric::Transport transport, const fabric::DeviceAttributes& device) {
  switch (transport) {
    case fabric::Transport::reliable_connection: return device.supports_reliable_connection;
    case fabric::Transport::unreliable_connection: return device.supports_unreliable_connection;
    case fabric::Transport::unreliable_datagram: return device.supports_unreliable_datagram;
    case fabric::Transport::message_stream: return device.supports_message_stream;
  }
  return false;
}

std::optional<std::string> find_bad_transport(const Options& options,
                                              const fabric::DeviceAttributes& device) {
  if (!is_supported(options.transport, device)) {
    return fmt::format("transport: the device does not support {}; use another one",
                       to_string(options.transport));
  }
  if (!options.uses_datagrams() || device.mtu_bytes >= sizeof(Request)) return std::nullopt;
  return fmt::format(
      "transport: a request of {} bytes does not fit the device's MTU of {}; use RC "
      "or UC",
      sizeof(Request), device.mtu_bytes);
}

constexpr std::uint32_t datagram_receives = 1'024;

}  // namespace

Options published_options(fabric::Transport transport) {
  Options options;
  options.transport = transport;
  if (options.uses_datagrams()) {
    options.posted_receives = datagram_receives;
    options.repost = Repost::before_reply;
  }
  return options;
}

std::optional<std::string> find_invalid_option(const Options& options,
                                               const fabric::DeviceAttributes& device) {
  const std::uint32_t most_clients = std::min(device.max_queue_requests, device.max_completions);
  const std::array problems{
      find_bad_transport(options, device),
      find_out_of_range("buckets", options.buckets, 1, most_buckets),
      find_out_of_range("most_pairs", options.most_pairs, 1, largest_most_pairs),
      find_out_of_range("max_clients", options.max_clients, 1, most_clients),
      find_out_of_range("posted_receives", options.posted_receives, 1, most_clients),
      find_out_of_range("connect_timeout_ns", options.connect_timeout_ns, 1, longest_duration_ns),
      find_out_of_range("repetition_interval_ns", options.repetition_interval_ns, 1,
                        longest_duration_ns),
      find_out_of_range("server_timeout_ns", options.server_timeout_ns, 1, longest_duration_ns),
      find_out_of_range("close_timeout_ns", options.close_timeout_ns, 1, longest_duration_ns),
      find_out_of_range("acknowledge_timeout_ns", options.acknowledge_timeout_ns, 1,
                        longest_duration_ns),
      find_out_of_range("retry_count", options.retry_count, 0, 7)};
  return stores::first_of(problems);
}

}  // namespace falafel::two_sided
