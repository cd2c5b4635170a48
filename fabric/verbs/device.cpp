#include "fabric/verbs/device.h"

#include <fcntl.h>

#include <algorithm>
#include <limits>

#include "fabric/posting_rules.h"
#include "fabric/verbs/connector.h"
#include "fabric/verbs/listener.h"
#include "fabric/verbs/network.h"
#include "fabric/verbs/paging.h"

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

// libibverbs stores this number in 8 bits.
constexpr int most_outstanding = std::numeric_limits<std::uint8_t>::max();
// More segments would only make every place of a queue larger.
constexpr int most_segments = 32;
// The largest number that fits into the field of a queue pair's attributes.
constexpr std::uint32_t most_retries = 7;

fabric::AtomicCapability to_capability(ibv_atomic_cap capability) {
  switch (capability) {
    case IBV_ATOMIC_NONE: return fabric::AtomicCapability::none;
    case IBV_ATOMIC_HCA: return fabric::AtomicCapability::device;
    case IBV_ATOMIC_GLOB: break;
  }
  return fabric::AtomicCapability::global;
}

std::uint32_t limited(int value, int limit) {
  return static_cast<std::uint32_t>(std::clamp(value, 0, limit));
}

// Some devices take fewer segments for a READ than for other requests.
std::uint32_t segments_of(const ibv_device_attr& limits) {
  const int least =
      limits.max_sge_rd > 0 ? std::min(limits.max_sge, limits.max_sge_rd) : limits.max_sge;
  return limited(std::max(least, 1), most_segments);
}

tl::unexpected<fabric::Error> refuse(std::string why) {
  return make_error(ErrorCode::invalid_argument, std::move(why));
}

}  // namespace

Result<std::unique_ptr<Device>> Device::open(fabric::FiberScheduler& scheduler, Network& network,
                                             const std::string& host_name, OpenedPort port) {
  ibv_comp_channel* const channel = ibv_create_comp_channel(port.context.get());
  if (channel == nullptr) {
    return make_error(
        ErrorCode::out_of_memory,
        fmt::format("cannot create a completion channel: {}; raise the limit of open files",
                    words_of(errno)));
  }
  ChannelHandle owned = own(channel, port.context);
  std::unique_ptr<Device> device(
      new Device(scheduler, network, host_name, std::move(port), std::move(owned)));
  if (Result<void> queried = device->query_attributes(); !queried) {
    return tl::unexpected(queried.error());
  }
  device->await_interrupts();
  return device;
}

Device::Device(fabric::FiberScheduler& scheduler, Network& network, std::string host_name,
               OpenedPort port, ChannelHandle channel)
    : scheduler_(scheduler),
      network_(network),
      host_name_(std::move(host_name)),
      port_(std::move(port)),
      channel_(std::move(channel)),
      interrupts_(network.reactor()),
      events_(network, port_.context) {
  // Asio closes its descriptor, so it gets a duplicate.
  interrupts_.assign(::fcntl(channel_->fd, F_DUPFD_CLOEXEC, 0));
  interrupts_.native_non_blocking(true);
}

// The interrupt itself ends the network's sleep. All that is left is to acknowledge it.
void Device::await_interrupts() {
  interrupts_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                         [this](const boost::system::error_code& error) {
                           if (error) return;
                           ibv_cq* queue = nullptr;
                           void* context = nullptr;
                           while (ibv_get_cq_event(channel_.get(), &queue, &context) == 0) {
                             ibv_ack_cq_events(queue, 1);
                           }
                           await_interrupts();
                         });
}

// -------------------------------------------------------------------------------------------------
// Limits

Result<void> Device::query_attributes() {
  ibv_device_attr_ex device{};
  const int failed = ibv_query_device_ex(port_.context.get(), nullptr, &device);
  if (failed != 0) {
    return refuse(fmt::format("cannot query the limits of device {}: {}",
                              ibv_get_device_name(port_.context->device), words_of(failed)));
  }
  const ibv_device_attr& limits = device.orig_attr;
  paging_ = device.odp_caps;
  attributes_.atomic_capability = to_capability(limits.atomic_cap);
  attributes_.mtu_bytes = port_.identity.mtu_bytes;
  attributes_.max_message_bytes = port_.identity.max_message_bytes;
  attributes_.max_completions = limited(limits.max_cqe, std::numeric_limits<int>::max());
  // Half of the entries, so one completion queue can serve both queues of a queue pair.
  attributes_.max_queue_requests = limited(limits.max_qp_wr, limits.max_cqe / 2);
  attributes_.max_outstanding_reads_and_atomics =
      limited(limits.max_qp_init_rd_atom, most_outstanding);
  attributes_.max_scatter_gather_entries = segments_of(limits);
  max_reads_as_responder_ = limited(limits.max_qp_rd_atom, most_outstanding);
  attributes_.max_shared_receive_queues = limited(limits.max_srq, std::numeric_limits<int>::max());
  // libibverbs has no call for them: only the drivers of some devices do.
  attributes_.has_masked_atomics = false;
  attributes_.supports_unreliable_connection = true;
  // The kernel returns the pages of a region to the system when the region is deregistered. The
  // driver must therefore ensure that the device no longer uses them (docs/fabric.md, fencing).
  attributes_.destruction_drains = true;
  // On InfiniBand, the LID of the other host would have to be queried, which this backend does not
  // do.
  attributes_.supports_unreliable_datagram = port_.identity.is_ethernet;
  attributes_.max_inline_bytes = find_inline_limit();
  return {};
}

// No call reports this limit. It is the largest for which a queue pair can be created.
std::uint32_t Device::find_inline_limit() {
  const DomainHandle domain = own(ibv_alloc_pd(port_.context.get()), port_.context);
  ibv_cq* const queue = ibv_create_cq(port_.context.get(), 2, nullptr, nullptr, 0);
  if (domain == nullptr || queue == nullptr) return 0;
  std::uint32_t limit = 0;
  for (std::uint32_t wanted = 1024; wanted >= 16 && limit == 0; wanted /= 2) {
    ibv_qp_init_attr options{};
    options.send_cq = queue;
    options.recv_cq = queue;
    options.cap = {.max_send_wr = 1,
                   .max_recv_wr = 1,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = wanted};
    options.qp_type = IBV_QPT_RC;
    ibv_qp* const queue_pair = ibv_create_qp(domain.get(), &options);
    if (queue_pair == nullptr) continue;
    limit = wanted;
    ibv_destroy_qp(queue_pair);
  }
  ibv_destroy_cq(queue);
  return limit;
}

// -------------------------------------------------------------------------------------------------
// What belongs to the device

std::unique_ptr<fabric::ProtectionDomain> Device::create_protection_domain() {
  ibv_pd* const domain = ibv_alloc_pd(port_.context.get());
  FALAFEL_ASSERT(domain != nullptr, "ibv_alloc_pd: {}", words_of(errno));
  return std::make_unique<ProtectionDomain>(own(domain, port_.context), paging_);
}

std::string Device::obstacle_to_paging() const {
  const std::string missing = missing_for_paging(paging_, {.remote_read = true});
  if (missing.empty()) return {};
  return fmt::format("device {} has no on-demand paging for reliable connections (it lacks {})",
                     ibv_get_device_name(port_.context->device), missing);
}

Result<std::unique_ptr<fabric::CompletionQueue>> Device::create_completion_queue(
    std::uint32_t capacity) {
  if (Result<void> checked = fabric::check_completion_capacity(capacity, attributes_); !checked) {
    return tl::unexpected(checked.error());
  }
  ibv_cq* const queue =
      ibv_create_cq(port_.context.get(), static_cast<int>(capacity), nullptr, channel_.get(), 0);
  if (queue == nullptr) {
    return make_error(
        ErrorCode::out_of_memory,
        fmt::format("cannot create a completion queue of {} entries: {}; raise the limit of "
                    "locked memory, or request fewer",
                    capacity, words_of(errno)));
  }
  return std::make_unique<CompletionQueue>(
      std::make_shared<CompletionQueueState>(scheduler_, network_, channel_, queue, capacity));
}

Result<std::unique_ptr<QueuePair>> Device::create_queue_pair(
    const fabric::QueuePairOptions& options) {
  if (Result<void> checked = check_options(options); !checked) {
    return tl::unexpected(checked.error());
  }
  const auto identity = identify_again(port_);
  if (!identity) return tl::unexpected(identity.error());
  port_.identity = *identity;
  return QueuePair::create(options, *identity, attributes_, addresses_);
}

Result<void> Device::check_options(const fabric::QueuePairOptions& options) const {
  if (dynamic_cast<ProtectionDomain*>(options.protection_domain) == nullptr) {
    return refuse("protection_domain: null, or from another fabric");
  }
  if (Result<void> checked = fabric::check_limits(options, attributes_); !checked) return checked;
  if (options.retry_count > most_retries)
    return refuse(fmt::format("retry_count: {} is over 7", options.retry_count));
  return check_queues(options);
}

Result<void> Device::check_queues(const fabric::QueuePairOptions& options) const {
  const auto* sends = dynamic_cast<CompletionQueue*>(options.send_completions);
  const auto* receives = dynamic_cast<CompletionQueue*>(options.receive_completions);
  if (sends == nullptr || receives == nullptr) {
    return refuse("send_completions, receive_completions: null, or from another fabric");
  }
  fabric::QueuePairOptions needed = options;
  if (options.shared_receive_queue != nullptr) {
    const auto* shared = dynamic_cast<SharedReceiveQueue*>(options.shared_receive_queue);
    const auto& domain = dynamic_cast<ProtectionDomain&>(*options.protection_domain).state();
    if (shared == nullptr || shared->state()->domain() != domain) {
      return refuse("shared_receive_queue: of another fabric or protection domain");
    }
    needed.max_receive_requests = shared->state()->entries_needed(*receives->state());
  }
  return fabric::check_free_entries(needed, sends->state()->unreserved(),
                                    receives->state()->unreserved());
}

Result<std::unique_ptr<fabric::SharedReceiveQueue>> Device::create_shared_receive_queue(
    const fabric::SharedReceiveQueueOptions& options) {
  return make_shared_receive_queue(options, attributes_);
}

// -------------------------------------------------------------------------------------------------
// Connections

Result<std::unique_ptr<fabric::Listener>> Device::listen(std::uint16_t service) {
  return listen_to_service(*this, {.host = host_name_, .service = service});
}

Result<fabric::Connection> Device::connect(const fabric::Address& address,
                                           const fabric::QueuePairOptions& options,
                                           fabric::PrivateData private_data,
                                           std::uint64_t deadline_ns) {
  return connect_to_listener(*this, address, options, private_data, deadline_ns);
}

// Packet numbers start anywhere, so late packets of an earlier connection are not mistaken for new
// ones.
HandshakeBody Device::describe(const QueuePair& queue_pair,
                               const fabric::QueuePairOptions& options) {
  constexpr std::uint64_t packet_numbers = std::uint64_t{1} << 24;
  HandshakeBody body;
  body.gid = port_.identity.gid;
  body.queue_pair_number = queue_pair.number();
  body.first_sent_packet = static_cast<std::uint32_t>(random_.next(packet_numbers));
  body.mtu_bytes = port_.identity.mtu_bytes;
  body.local_identifier = port_.identity.local_identifier;
  body.is_ethernet = port_.identity.is_ethernet ? 1 : 0;
  body.transport = options.transport;
  body.reads_as_requester = std::min(options.max_outstanding_reads_and_atomics,
                                     attributes_.max_outstanding_reads_and_atomics);
  body.reads_as_responder = max_reads_as_responder_;
  body.hears_close = options.hears_close ? 1 : 0;
  return body;
}

Result<std::unique_ptr<fabric::QueuePair>> Device::create_datagram_queue_pair(
    const fabric::QueuePairOptions& options) {
  if (options.transport != fabric::Transport::unreliable_datagram) {
    return refuse("transport: datagram queue pairs are UD; connect() makes RC and UC");
  }
  if (!attributes_.supports_unreliable_datagram) {
    return make_error(ErrorCode::unsupported, "UD is for Ethernet (RoCE) only; use RC");
  }
  auto queue_pair = create_queue_pair(options);
  if (!queue_pair) return tl::unexpected(queue_pair.error());
  if (Result<void> ready = (*queue_pair)->become_ready_for_datagrams(); !ready) {
    return tl::unexpected(ready.error());
  }
  return std::move(*queue_pair);
}

Result<fabric::DatagramAddress> Device::resolve(const std::string& host,
                                                std::uint32_t queue_pair_number) {
  const auto gid = resolve_gid(network_.reactor(), host);
  if (!gid) return tl::unexpected(gid.error());
  return fabric::DatagramAddress{.host = addresses_->number_of(*gid),
                                 .queue_pair_number = queue_pair_number};
}

}  // namespace falafel::verbs
