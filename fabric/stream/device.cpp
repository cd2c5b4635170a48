#include "fabric/stream/device.h"

#include "fabric/posting_rules.h"
#include "fabric/stream/completion_queue.h"
#include "fabric/stream/connector.h"
#include "fabric/stream/listener.h"
#include "fabric/stream/memory.h"

namespace falafel::stream {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

constexpr fabric::DeviceAttributes attributes_of_sockets{
    .atomic_capability = fabric::AtomicCapability::none,
    .mtu_bytes = 1'024,  // TCP divides messages by itself
    .max_message_bytes = 1U << 30,
    .max_inline_bytes = 4'096,
    .max_queue_requests = 1U << 14,
    .max_completions = 1U << 20,
    .max_outstanding_reads_and_atomics = 0,
    .max_scatter_gather_entries = 32,
    .supports_reliable_connection = false,
    .supports_message_stream = true,
    .destruction_drains = true,  // only the host's own thread writes to its memory
};

tl::unexpected<fabric::Error> refuse_datagrams() {
  return make_error(ErrorCode::unsupported,
                    "transport: sockets carry message streams only (supports_message_stream)");
}

}  // namespace

const fabric::DeviceAttributes& Device::attributes() const { return attributes_of_sockets; }

std::unique_ptr<fabric::ProtectionDomain> Device::create_protection_domain() {
  return std::make_unique<ProtectionDomain>(site_.scheduler, site_.next_key);
}

Result<std::unique_ptr<fabric::CompletionQueue>> Device::create_completion_queue(
    std::uint32_t capacity) {
  if (auto checked = fabric::check_completion_capacity(capacity, attributes()); !checked) {
    return tl::unexpected(checked.error());
  }
  return std::make_unique<CompletionQueue>(site_.scheduler, capacity);
}

Result<std::unique_ptr<fabric::SharedReceiveQueue>> Device::create_shared_receive_queue(
    const fabric::SharedReceiveQueueOptions& options) {
  return tl::unexpected(fabric::check_shared_receive_queue(options, attributes()).error());
}

Result<void> Device::check_options(const fabric::QueuePairOptions& options) const {
  if (auto checked = fabric::check_limits(options, attributes()); !checked) return checked;
  const auto* const domain = dynamic_cast<ProtectionDomain*>(options.protection_domain);
  const auto* const sends = dynamic_cast<CompletionQueue*>(options.send_completions);
  const auto* const receives = dynamic_cast<CompletionQueue*>(options.receive_completions);
  if (domain == nullptr || &domain->scheduler() != &site_.scheduler || sends == nullptr ||
      &sends->scheduler() != &site_.scheduler || receives == nullptr ||
      &receives->scheduler() != &site_.scheduler) {
    return make_error(ErrorCode::invalid_argument,
                      "protection_domain, send_completions, receive_completions: null, or of "
                      "another host");
  }
  return fabric::check_free_entries(options, sends->unreserved(), receives->unreserved());
}

Result<std::unique_ptr<QueuePair>> Device::create_queue_pair(
    const fabric::QueuePairOptions& options) {
  if (auto checked = check_options(options); !checked) return tl::unexpected(checked.error());
  return std::make_unique<QueuePair>(
      std::make_shared<Connection>(site_.next_queue_pair++, options, attributes()));
}

Result<std::unique_ptr<fabric::Listener>> Device::listen(std::uint16_t service) {
  return listen_to_service(*this, service);
}

Result<fabric::Connection> Device::connect(const fabric::Address& address,
                                           const fabric::QueuePairOptions& options,
                                           fabric::PrivateData private_data,
                                           std::uint64_t deadline_ns) {
  return connect_to_service(*this, address, options, private_data, deadline_ns);
}

Result<std::unique_ptr<fabric::QueuePair>> Device::create_datagram_queue_pair(
    const fabric::QueuePairOptions& /*options*/) {
  return refuse_datagrams();
}

Result<fabric::DatagramAddress> Device::resolve(const std::string& /*host*/,
                                                std::uint32_t /*queue_pair_number*/) {
  return refuse_datagrams();
}

}  // namespace falafel::stream
