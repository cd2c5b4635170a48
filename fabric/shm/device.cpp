#include "fabric/shm/device.h"

#include "fabric/posting_rules.h"
#include "fabric/shm/completion_queue.h"
#include "fabric/shm/connector.h"
#include "fabric/shm/host.h"
#include "fabric/shm/listener.h"
#include "fabric/shm/memory.h"
#include "fabric/shm/queue_pair.h"

namespace falafel::shm {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;
using fabric::Transport;

const fabric::DeviceAttributes& Device::attributes() const { return host_.attributes(); }

std::unique_ptr<fabric::ProtectionDomain> Device::create_protection_domain() {
  return std::make_unique<ProtectionDomain>(host_.shared_process());
}

Result<std::unique_ptr<fabric::CompletionQueue>> Device::create_completion_queue(
    std::uint32_t capacity) {
  if (auto checked = fabric::check_completion_capacity(capacity, attributes()); !checked) {
    return tl::unexpected(checked.error());
  }
  return std::make_unique<CompletionQueue>(host_, capacity);
}

Result<void> Device::check_options(const fabric::QueuePairOptions& options) const {
  const auto refuse = [](std::string why) {
    return make_error(ErrorCode::invalid_argument, std::move(why));
  };
  if (options.transport != Transport::reliable_connection) {
    return make_error(ErrorCode::unsupported, "transport: shared memory has RC only");
  }
  if (options.shared_receive_queue != nullptr) {
    return refuse("shared_receive_queue: shared memory has none (max_shared_receive_queues)");
  }
  const auto* domain = dynamic_cast<ProtectionDomain*>(options.protection_domain);
  const auto* sends = dynamic_cast<CompletionQueue*>(options.send_completions);
  const auto* receives = dynamic_cast<CompletionQueue*>(options.receive_completions);
  if (domain == nullptr || &domain->process() != host_.shared_process().get()) {
    return refuse("protection_domain: null, or from another process");
  }
  if (sends == nullptr || receives == nullptr || &sends->host() != &host_ ||
      &receives->host() != &host_) {
    return refuse("send_completions, receive_completions: null, or from another host");
  }
  if (auto checked = fabric::check_limits(options, attributes()); !checked) return checked;
  return fabric::check_free_entries(options, sends->unreserved(), receives->unreserved());
}

Result<Device::Prepared> Device::prepare(const fabric::QueuePairOptions& options,
                                         std::optional<pid_t> caller) {
  if (auto checked = check_options(options); !checked) return tl::unexpected(checked.error());
  const auto& domain = static_cast<ProtectionDomain&>(*options.protection_domain).number();
  ProcessState& process = host_.process();
  auto endpoint = process.make_endpoint(options, domain, host_.wake_word(), caller);
  if (!endpoint) return tl::unexpected(endpoint.error());
  return Prepared{.queue_pair = std::make_unique<QueuePair>(
                      host_, options, process.next_queue_pair(), domain->value),
                  .endpoint = std::move(*endpoint)};
}

Result<std::unique_ptr<fabric::SharedReceiveQueue>> Device::create_shared_receive_queue(
    const fabric::SharedReceiveQueueOptions& options) {
  auto refused = fabric::check_shared_receive_queue(options, attributes());
  FALAFEL_ASSERT(!refused, "{} shared receive queues over shared memory",
                 attributes().max_shared_receive_queues);
  return tl::unexpected(refused.error());
}

Result<std::unique_ptr<fabric::Listener>> Device::listen(std::uint16_t service) {
  return listen_to_service(host_, *this, service);
}

Result<fabric::Connection> Device::connect(const fabric::Address& address,
                                           const fabric::QueuePairOptions& options,
                                           fabric::PrivateData private_data,
                                           std::uint64_t deadline_ns) {
  if (auto checked = fabric::check_private_data(private_data); !checked) {
    return tl::unexpected(checked.error());
  }
  auto prepared = prepare(options, std::nullopt);
  if (!prepared) return tl::unexpected(prepared.error());
  return connect_to_listener(host_, address, std::move(*prepared), private_data, deadline_ns);
}

Result<std::unique_ptr<fabric::QueuePair>> Device::create_datagram_queue_pair(
    const fabric::QueuePairOptions& /*options*/) {
  return make_error(ErrorCode::unsupported, "transport: shared memory has RC only");
}

Result<fabric::DatagramAddress> Device::resolve(const std::string& /*host*/,
                                                std::uint32_t /*queue_pair_number*/) {
  return make_error(ErrorCode::unsupported, "transport: shared memory has RC only");
}

}  // namespace falafel::shm
