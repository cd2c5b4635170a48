#include "fabric/verbs/queue_pair.h"

#include <algorithm>
#include <bit>

#include "fabric/realtime/clock.h"

namespace falafel::fabric {
namespace {

// Marks the device's identifiers of receive requests; the rest is the sequence number.
constexpr std::uint64_t receive_mark = std::uint64_t{1} << 63;

// 2^n times the shortest time-out that InfiniBand knows.
constexpr std::uint64_t timeout_unit_ns = 4096;
constexpr std::uint8_t longest_timeout = 31;

// How long a device may take to answer what it has completed.
constexpr std::uint64_t longest_answer_ns = 10'000'000;

// How long the peer is asked to wait when it finds no receive request: code 12 is 0.64 ms.
constexpr std::uint8_t receiver_not_ready_timer = 12;

ibv_qp_type to_type(Transport transport) {
  switch (transport) {
    case Transport::reliable_connection: return IBV_QPT_RC;
    case Transport::unreliable_connection: return IBV_QPT_UC;
    case Transport::unreliable_datagram: break;
  }
  return IBV_QPT_UD;
}

ibv_mtu to_code(std::uint32_t mtu_bytes) {
  return static_cast<ibv_mtu>(std::bit_width(mtu_bytes) - std::bit_width(256U) + IBV_MTU_256);
}

std::uint8_t timeout_code(std::uint64_t timeout_ns) {
  std::uint8_t code = 1;
  while (code < longest_timeout && timeout_unit_ns << code < timeout_ns) ++code;
  return code;
}

tl::unexpected<Error> transition_failed(std::string_view what, int error_number) {
  return make_error(ErrorCode::unreachable,
                    fmt::format("the queue pair cannot {}: {}; look at the port's state and the "
                                "GID index of both ends",
                                what, words_of(error_number)));
}

}  // namespace

Result<std::unique_ptr<VerbsQueuePair>> VerbsQueuePair::create(
    const QueuePairOptions& options, const PortIdentity& port, const DeviceAttributes& attributes,
    std::shared_ptr<AddressBook> addresses) {
  auto& domain = dynamic_cast<VerbsProtectionDomain&>(*options.protection_domain);
  auto& sends = dynamic_cast<VerbsCompletionQueue&>(*options.send_completions);
  auto& receives = dynamic_cast<VerbsCompletionQueue&>(*options.receive_completions);
  ibv_qp_init_attr wanted{};
  wanted.send_cq = sends.state()->raw();
  wanted.recv_cq = receives.state()->raw();
  wanted.cap = {.max_send_wr = options.max_send_requests,
                .max_recv_wr = options.max_receive_requests,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = options.max_inline_bytes};
  wanted.qp_type = to_type(options.transport);
  ibv_qp* const raw = ibv_create_qp(domain.state()->raw.get(), &wanted);
  if (raw == nullptr) {
    return make_error(
        ErrorCode::out_of_memory,
        fmt::format("no queue pair of {} sends and {} receives: {}; ask for less, or "
                    "raise the limit of locked memory",
                    options.max_send_requests, options.max_receive_requests, words_of(errno)));
  }
  std::unique_ptr<VerbsQueuePair> queue_pair(
      new VerbsQueuePair(options, port, attributes, std::move(addresses), raw));
  if (Result<void> initialized = queue_pair->initialize(); !initialized) {
    return tl::unexpected<Error>(initialized.error());
  }
  return queue_pair;
}

VerbsQueuePair::VerbsQueuePair(const QueuePairOptions& options, const PortIdentity& port,
                               const DeviceAttributes& attributes,
                               std::shared_ptr<AddressBook> addresses, ibv_qp* raw)
    : options_(options),
      port_(port),
      attributes_(attributes),
      addresses_(std::move(addresses)),
      domain_(dynamic_cast<VerbsProtectionDomain&>(*options.protection_domain).state()),
      send_completions_(dynamic_cast<VerbsCompletionQueue&>(*options.send_completions).state()),
      receive_completions_(
          dynamic_cast<VerbsCompletionQueue&>(*options.receive_completions).state()),
      raw_(raw),
      number_(raw->qp_num) {
  sends_.requests.resize(options.max_send_requests);
  receives_.requests.resize(options.max_receive_requests);
  send_completions_->attach(*this, options.max_send_requests);
  receive_completions_->attach(*this, options.max_receive_requests);
}

void VerbsQueuePair::close() {
  if (state_ == QueuePairState::closed) return;
  state_ = QueuePairState::closed;
  const int failed = ibv_destroy_qp(std::exchange(raw_, nullptr));
  FALAFEL_ASSERT(failed == 0, "ibv_destroy_qp: {}", words_of(failed));
  forget_destinations();
  send_completions_->detach(*this, options_.max_send_requests);
  receive_completions_->detach(*this, options_.max_receive_requests);
}

// ---------------------------------------------------------------------------------------------------
// States of the device: reset, initialized, ready to receive, ready to send, error

Result<void> VerbsQueuePair::initialize() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = 0;
  attributes.port_num = port_.port;
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (options_.transport == Transport::unreliable_datagram) {
    attributes.qkey = key_of_datagrams();
    mask |= IBV_QP_QKEY;
  } else {
    // The regions restrict it.
    attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    mask |= IBV_QP_ACCESS_FLAGS;
  }
  if (options_.transport == Transport::reliable_connection) {
    attributes.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  }
  const int failed = ibv_modify_qp(raw_, &attributes, mask);
  if (failed != 0) return transition_failed("be initialized", failed);
  return {};
}

Result<void> VerbsQueuePair::join(const Route& route) {
  if (Result<void> ready = become_ready_to_receive(route); !ready) return ready;
  return become_ready_to_send(route);
}

Result<void> VerbsQueuePair::become_ready_to_receive(const Route& route) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = to_code(route.mtu_bytes);
  attributes.dest_qp_num = route.queue_pair_number;
  attributes.rq_psn = route.first_received_packet;
  attributes.ah_attr.port_num = port_.port;
  attributes.ah_attr.dlid = route.local_identifier;
  if (port_.is_ethernet) {
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.grh.sgid_index = port_.gid_index;
    attributes.ah_attr.grh.hop_limit = hop_limit;
    std::copy(route.gid.begin(), route.gid.end(), std::begin(attributes.ah_attr.grh.dgid.raw));
  }
  int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (options_.transport == Transport::reliable_connection) {
    attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(route.reads_as_responder);
    attributes.min_rnr_timer = receiver_not_ready_timer;
    mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  }
  const int failed = ibv_modify_qp(raw_, &attributes, mask);
  if (failed != 0) return transition_failed("reach its peer", failed);
  return {};
}

Result<void> VerbsQueuePair::become_ready_to_send(const Route& route) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = route.first_sent_packet;
  int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (options_.transport == Transport::reliable_connection) {
    // Where there can be fewer tries, each lasts longer.
    const std::uint32_t retries = std::min(options_.retry_count, port_.most_retries);
    const std::uint64_t patience_ns = (options_.retry_count + 1) * options_.acknowledge_timeout_ns;
    attributes.timeout = timeout_code(patience_ns / (retries + 1) + 1);
    attributes.retry_cnt = static_cast<std::uint8_t>(retries);
    attributes.rnr_retry = static_cast<std::uint8_t>(options_.receiver_not_ready_retry_count);
    attributes.max_rd_atomic = static_cast<std::uint8_t>(route.reads_as_requester);
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  const int failed = ibv_modify_qp(raw_, &attributes, mask);
  if (failed != 0) return transition_failed("send", failed);
  return {};
}

bool VerbsQueuePair::enter_error() const {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  return ibv_modify_qp(raw_, &attributes, IBV_QP_STATE) == 0;
}

void VerbsQueuePair::move_to_error() {
  if (state_ != QueuePairState::ready) return;
  state_ = QueuePairState::error;
  FALAFEL_ASSERT(enter_error(), "queue pair {} cannot be fenced: {}", number_, words_of(errno));
}

// The device changes the state by itself when the peer has done wrong, and tells nobody.
bool VerbsQueuePair::is_in_error_by_device() const {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr ignored{};
  const int failed = ibv_query_qp(raw_, &attributes, IBV_QP_STATE, &ignored);
  return failed != 0 || attributes.qp_state == IBV_QPS_ERR || attributes.qp_state == IBV_QPS_SQE;
}

QueuePairState VerbsQueuePair::state() const {
  if (state_ == QueuePairState::ready && is_in_error_by_device()) {
    state_ = QueuePairState::error;
    enter_error();
  }
  return state_;
}

// Entering the state of error once more makes Soft-RoCE flush what was posted while it was on its way
// there; on other devices it changes nothing.
bool VerbsQueuePair::note_failure(Opcode opcode) {
  if (state_ != QueuePairState::ready) return false;
  state_ = QueuePairState::error;
  if (opcode == Opcode::receive) let_answer_leave();
  enter_error();
  return true;
}

// Soft-RoCE completes a receive request that is too small before it answers the sender, and drops the answer if
// the state of error is entered in between. When it has answered, it gets there by itself.
void VerbsQueuePair::let_answer_leave() const {
  const std::uint64_t deadline_ns = monotonic_ns() + longest_answer_ns;
  while (!is_in_error_by_device() && monotonic_ns() < deadline_ns) {
  }
}

// ---------------------------------------------------------------------------------------------------
// Requests and their completions

static std::uint64_t device_id(bool is_receive, std::uint64_t sequence) {
  return is_receive ? sequence | receive_mark : sequence;
}

RequestReference VerbsQueuePair::reference(std::uint64_t id) const {
  return (id & receive_mark) != 0 ? receives_.at(id & ~receive_mark) : sends_.at(id);
}

// Requests complete in the order of posting, so that all before are done with as well.
void VerbsQueuePair::release(Opcode opcode, std::uint64_t sequence) {
  Queue& queue = opcode == Opcode::receive ? receives_ : sends_;
  queue.released = sequence + 1;
}

LocalBuffer VerbsQueuePair::examine_local(const MemoryAddress& local, std::uint64_t length_bytes,
                                          bool is_written) const {
  const auto found = domain_->regions.find(local.key);
  return examine_local_buffer(found == domain_->regions.end() ? nullptr : &found->second, local,
                              length_bytes, is_written);
}

// libibverbs would report some broken rules only in completions, and break the queue pair over them, or
// post half of a chain.
Result<void> VerbsQueuePair::check_chain(std::span<const WorkRequest> chain) {
  const auto examine = [this](std::size_t /*index*/, const MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return examine_local(local, length_bytes, is_written);
  };
  const QueueOccupancy queue{.queue_pair_number = number_,
                             .is_closed = state_ == QueuePairState::closed,
                             .places_taken = sends_.taken()};
  Result<void> checked = check_send_chain(chain, queue, options_, attributes_, examine);
  if (!checked || options_.transport != Transport::unreliable_datagram) return checked;
  for (const WorkRequest& request : chain) {
    if (Result<void> ready = prepare_destination(request.destination); !ready) return ready;
  }
  return {};
}

Result<void> VerbsQueuePair::post_send(std::span<const WorkRequest> chain) {
  if (Result<void> checked = check_chain(chain); !checked) return checked;
  if (chain.empty()) return {};
  send_list_.assign(chain.size(), ibv_send_wr{});
  buffers_.assign(chain.size(), ibv_sge{});
  for (std::size_t i = 0; i < chain.size(); ++i) {
    translate(chain[i], send_list_[i], buffers_[i]);
    if (i > 0) send_list_[i - 1].next = &send_list_[i];
  }
  ibv_send_wr* refused = nullptr;
  const int failed = ibv_post_send(raw_, send_list_.data(), &refused);
  FALAFEL_ASSERT(failed == 0, "ibv_post_send: {}", words_of(failed));
  return {};
}

Result<void> VerbsQueuePair::post_receive(std::span<const ReceiveRequest> chain) {
  const auto examine = [this](std::size_t /*index*/, const MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return examine_local(local, length_bytes, is_written);
  };
  const QueueOccupancy queue{.queue_pair_number = number_,
                             .is_closed = state_ == QueuePairState::closed,
                             .places_taken = receives_.taken()};
  if (Result<void> checked = check_receive_chain(chain, queue, options_, examine); !checked) {
    return checked;
  }
  if (chain.empty()) return {};
  receive_list_.assign(chain.size(), ibv_recv_wr{});
  buffers_.assign(chain.size(), ibv_sge{});
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const ReceiveRequest& request = chain[i];
    const std::uint64_t sequence = receives_.posted++;
    receives_.at(sequence) = {
        .id = request.id, .opcode = Opcode::receive, .sequence = sequence, .buffer = request.local};
    buffers_[i] = {
        .addr = request.local.offset, .length = request.length_bytes, .lkey = request.local.key};
    receive_list_[i].wr_id = device_id(true, sequence);
    receive_list_[i].sg_list = &buffers_[i];
    receive_list_[i].num_sge = request.length_bytes == 0 ? 0 : 1;
    if (i > 0) receive_list_[i - 1].next = &receive_list_[i];
  }
  ibv_recv_wr* refused = nullptr;
  const int failed = ibv_post_recv(raw_, receive_list_.data(), &refused);
  FALAFEL_ASSERT(failed == 0, "ibv_post_recv: {}", words_of(failed));
  if (state_ == QueuePairState::error) enter_error();  // as in note_failure()
  return {};
}

static ibv_wr_opcode to_code(Opcode opcode) {
  switch (opcode) {
    case Opcode::read: return IBV_WR_RDMA_READ;
    case Opcode::write: return IBV_WR_RDMA_WRITE;
    case Opcode::compare_and_swap: return IBV_WR_ATOMIC_CMP_AND_SWP;
    case Opcode::fetch_and_add: return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case Opcode::send:
    case Opcode::receive: break;
  }
  return IBV_WR_SEND;
}

void VerbsQueuePair::translate(const WorkRequest& request, ibv_send_wr& out, ibv_sge& buffer) {
  const std::uint64_t sequence = sends_.posted++;
  sends_.at(sequence) = {
      .id = request.id, .opcode = request.opcode, .sequence = sequence, .buffer = {}};
  buffer = {
      .addr = request.local.offset, .length = request.length_bytes, .lkey = request.local.key};
  out.wr_id = device_id(false, sequence);
  out.sg_list = &buffer;
  out.num_sge = request.length_bytes == 0 ? 0 : 1;
  out.opcode = to_code(request.opcode);
  if (request.signalled) out.send_flags |= IBV_SEND_SIGNALED;
  if (request.fenced) out.send_flags |= IBV_SEND_FENCE;
  if (request.inlined && request.length_bytes > 0) {
    // Copied here and now, from where this process sees it.
    const std::byte* const block = domain_->regions.at(request.local.key).block;
    buffer.addr = std::bit_cast<std::uint64_t>(block + request.local.offset);
    out.send_flags |= IBV_SEND_INLINE;
  }
  if (options_.transport == Transport::unreliable_datagram) {
    address(request.destination, out);
  } else if (is_atomic(request.opcode)) {
    out.wr.atomic.remote_addr = request.remote.offset;
    out.wr.atomic.rkey = request.remote.key;
    const bool compares = request.opcode == Opcode::compare_and_swap;
    out.wr.atomic.compare_add = compares ? request.compare : request.swap_or_add;
    out.wr.atomic.swap = compares ? request.swap_or_add : 0;
  } else {
    out.wr.rdma.remote_addr = request.remote.offset;
    out.wr.rdma.rkey = request.remote.key;
  }
}

}  // namespace falafel::fabric
