#include "fabric/verbs/queue_pair.h"

#include <algorithm>
#include <bit>

#include "fabric/realtime/clock.h"

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

// InfiniBand's time-outs are this unit times a power of two.
constexpr std::uint64_t timeout_unit_ns = 4096;
constexpr std::uint8_t longest_timeout = 31;

// How long to wait for a device to send an answer after it has reported the completion.
constexpr std::uint64_t longest_answer_ns = 10'000'000;

// How long the peer must wait before it retries a SEND that found no receive request: code 12 is
// 0.64 ms.
constexpr std::uint8_t receiver_not_ready_timer = 12;

ibv_qp_type to_type(fabric::Transport transport) {
  switch (transport) {
    case fabric::Transport::reliable_connection: return IBV_QPT_RC;
    case fabric::Transport::unreliable_connection: return IBV_QPT_UC;
    case fabric::Transport::unreliable_datagram: return IBV_QPT_UD;
    case fabric::Transport::message_stream: break;
  }
  FALAFEL_ASSERT(false, "a device without message streams was asked for one");
}

ibv_mtu to_code(std::uint32_t mtu_bytes) {
  return static_cast<ibv_mtu>(std::bit_width(mtu_bytes) - std::bit_width(256U) + IBV_MTU_256);
}

std::uint8_t timeout_code(std::uint64_t timeout_ns) {
  std::uint8_t code = 1;
  while (code < longest_timeout && timeout_unit_ns << code < timeout_ns) ++code;
  return code;
}

tl::unexpected<fabric::Error> transition_failed(std::string_view what, int error_number) {
  return make_error(ErrorCode::unreachable,
                    fmt::format("the queue pair cannot {}: {}; check the port's state and the GID "
                                "index at both ends",
                                what, words_of(error_number)));
}

std::shared_ptr<SharedReceiveQueueState> shared_receives_of(
    const fabric::QueuePairOptions& options) {
  if (options.shared_receive_queue == nullptr) return nullptr;
  return dynamic_cast<SharedReceiveQueue&>(*options.shared_receive_queue).state();
}

}  // namespace

Result<std::unique_ptr<QueuePair>> QueuePair::create(const fabric::QueuePairOptions& options,
                                                     const PortIdentity& port,
                                                     const fabric::DeviceAttributes& attributes,
                                                     std::shared_ptr<AddressBook> addresses) {
  auto& domain = dynamic_cast<ProtectionDomain&>(*options.protection_domain);
  auto& sends = dynamic_cast<CompletionQueue&>(*options.send_completions);
  auto& receives = dynamic_cast<CompletionQueue&>(*options.receive_completions);
  ibv_qp_init_attr wanted{};
  wanted.send_cq = sends.state()->raw();
  wanted.recv_cq = receives.state()->raw();
  wanted.cap = {.max_send_wr = options.max_send_requests,
                .max_recv_wr = options.max_receive_requests,
                .max_send_sge = options.max_send_segments,
                .max_recv_sge = options.max_receive_segments,
                .max_inline_data = options.max_inline_bytes};
  const auto shared = shared_receives_of(options);
  if (shared != nullptr) {
    wanted.srq = shared->raw();
    wanted.cap.max_recv_wr = 0;
    wanted.cap.max_recv_sge = 0;
  }
  wanted.qp_type = to_type(options.transport);
  ibv_qp* const raw = ibv_create_qp(domain.state()->raw.get(), &wanted);
  if (raw == nullptr) {
    return make_error(
        ErrorCode::out_of_memory,
        fmt::format("no queue pair of {} sends, {} receives, {} and {} segments and {} bytes of "
                    "inline data: {}; ask for less, or raise the limit of locked memory",
                    options.max_send_requests, options.max_receive_requests,
                    options.max_send_segments, options.max_receive_segments,
                    options.max_inline_bytes, words_of(errno)));
  }
  std::unique_ptr<QueuePair> queue_pair(
      new QueuePair(options, port, attributes, std::move(addresses), raw));
  if (Result<void> initialized = queue_pair->initialize(); !initialized) {
    return tl::unexpected(initialized.error());
  }
  return queue_pair;
}

QueuePair::QueuePair(const fabric::QueuePairOptions& options, const PortIdentity& port,
                     const fabric::DeviceAttributes& attributes,
                     std::shared_ptr<AddressBook> addresses, ibv_qp* raw)
    : options_(options),
      port_(port),
      attributes_(attributes),
      addresses_(std::move(addresses)),
      domain_(dynamic_cast<ProtectionDomain&>(*options.protection_domain).state()),
      send_completions_(dynamic_cast<CompletionQueue&>(*options.send_completions).state()),
      receive_completions_(dynamic_cast<CompletionQueue&>(*options.receive_completions).state()),
      shared_receives_(shared_receives_of(options)),
      raw_(raw),
      number_(raw->qp_num) {
  sends_.requests.resize(options.max_send_requests);
  receives_.requests.resize(options.max_receive_requests);
  send_completions_->attach(*this, options.max_send_requests);
  receive_completions_->attach(*this, shared_receives_ == nullptr
                                          ? options.max_receive_requests
                                          : shared_receives_->attach(*receive_completions_));
}

void QueuePair::close() {
  if (state_ == fabric::QueuePairState::closed) return;
  state_ = fabric::QueuePairState::closed;
  if (shared_receives_ != nullptr) {
    // Some devices drop the completions of a queue pair that is destroyed. The shared queue would
    // not learn which of its slots are free.
    enter_error();
    receive_completions_->collect();
  }
  const int failed = ibv_destroy_qp(std::exchange(raw_, nullptr));
  FALAFEL_ASSERT(failed == 0, "ibv_destroy_qp: {}", words_of(failed));
  if (closing_notice_ != nullptr) closing_notice_->say_goodbye();
  forget_destinations();
  send_completions_->detach(*this, options_.max_send_requests);
  receive_completions_->detach(*this, shared_receives_ == nullptr
                                          ? options_.max_receive_requests
                                          : shared_receives_->detach(*receive_completions_));
}

void QueuePair::attach(std::shared_ptr<ClosingNotice> notice) {
  closing_notice_ = std::move(notice);
  if (options_.hears_close) closing_notice_->listen();
}

bool QueuePair::places_in_address_order() const {
  return raw_ != nullptr && ibv_query_qp_data_in_order(raw_, IBV_WR_RDMA_WRITE, 0) == 1;
}

bool QueuePair::wait_until_peer_closed(std::uint64_t deadline_ns) {
  FALAFEL_ASSERT(options_.hears_close && closing_notice_ != nullptr,
                 "queue pair {} does not hear that its peer closes; set hears_close in the options "
                 "of a connection",
                 number_);
  return closing_notice_->wait(deadline_ns);
}

// -------------------------------------------------------------------------------------------------
// The states of a queue pair in the device: reset, initialized, ready to receive, ready to send,
// error

Result<void> QueuePair::initialize() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = port_.partition_index;
  attributes.port_num = port_.port;
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (options_.transport == fabric::Transport::unreliable_datagram) {
    attributes.qkey = key_of_datagrams();
    mask |= IBV_QP_QKEY;
  } else {
    // Regions restrict the rights further.
    attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    mask |= IBV_QP_ACCESS_FLAGS;
  }
  if (options_.transport == fabric::Transport::reliable_connection) {
    attributes.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  }
  const int failed = ibv_modify_qp(raw_, &attributes, mask);
  if (failed != 0) return transition_failed("be initialized", failed);
  return {};
}

Result<void> QueuePair::join(const Route& route) {
  if (Result<void> ready = become_ready_to_receive(route); !ready) return ready;
  return become_ready_to_send(route);
}

Result<void> QueuePair::become_ready_to_receive(const Route& route) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = to_code(route.mtu_bytes);
  attributes.dest_qp_num = route.queue_pair_number;
  attributes.rq_psn = route.first_received_packet;
  attributes.ah_attr.port_num = port_.port;
  attributes.ah_attr.dlid = route.local_identifier;
  attributes.ah_attr.sl = port_.service_level;
  if (port_.is_ethernet) {
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.grh.sgid_index = port_.gid_index;
    attributes.ah_attr.grh.hop_limit = hop_limit;
    attributes.ah_attr.grh.traffic_class = port_.traffic_class;
    std::copy(route.gid.begin(), route.gid.end(), std::begin(attributes.ah_attr.grh.dgid.raw));
  }
  int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (options_.transport == fabric::Transport::reliable_connection) {
    attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(route.reads_as_responder);
    attributes.min_rnr_timer = receiver_not_ready_timer;
    mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  }
  const int failed = ibv_modify_qp(raw_, &attributes, mask);
  if (failed != 0) return transition_failed("reach its peer", failed);
  return {};
}

Result<void> QueuePair::become_ready_to_send(const Route& route) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = route.first_sent_packet;
  int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (options_.transport == fabric::Transport::reliable_connection) {
    // If the device allows fewer retries, each lasts longer.
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

// Every state has a transition to error, so ibv_modify_qp fails only if the device is gone. Such a
// device moves no data, so the queue pair is in error either way, but its flushes may never arrive.
void QueuePair::enter_error() const {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  ibv_modify_qp(raw_, &attributes, IBV_QP_STATE);
}

void QueuePair::move_to_error() {
  if (state_ != fabric::QueuePairState::ready) return;
  state_ = fabric::QueuePairState::error;
  enter_error();
}

// The device changes the state by itself when the peer makes an error, and does not report it.
bool QueuePair::is_in_error_by_device() const {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr ignored{};
  const int failed = ibv_query_qp(raw_, &attributes, IBV_QP_STATE, &ignored);
  return failed != 0 || attributes.qp_state == IBV_QPS_ERR || attributes.qp_state == IBV_QPS_SQE;
}

fabric::QueuePairState QueuePair::state() const {
  if (state_ == fabric::QueuePairState::ready && is_in_error_by_device()) {
    state_ = fabric::QueuePairState::error;
    enter_error();
  }
  return state_;
}

// Entering the error state again makes Soft-RoCE flush the requests that were posted during the
// change of state. On other devices it has no effect.
bool QueuePair::note_failure(fabric::Opcode opcode) {
  if (state_ != fabric::QueuePairState::ready) return false;
  state_ = fabric::QueuePairState::error;
  if (opcode == fabric::Opcode::receive) let_answer_leave();
  enter_error();
  return true;
}

// Soft-RoCE refuses at once a request that has no way to its peer. From then on it repeats none of
// the earlier requests, and those whose answers were lost never complete (docs/verbs.md).
void QueuePair::on_port_error(int port) const {
  const bool may_forget =
      port_.is_soft_roce && options_.transport == fabric::Transport::reliable_connection;
  if (!may_forget || port != port_.port || sends_.taken() == 0) return;
  if (state_ == fabric::QueuePairState::ready) enter_error();
}

// Soft-RoCE completes a receive request that is too small before it answers the sender, and drops
// the answer if the queue pair enters the error state in between. After the answer it enters that
// state by itself.
void QueuePair::let_answer_leave() const {
  const std::uint64_t deadline_ns = fabric::monotonic_ns() + longest_answer_ns;
  while (!is_in_error_by_device() && fabric::monotonic_ns() < deadline_ns) {
  }
}

}  // namespace falafel::verbs
