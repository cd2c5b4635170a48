#include "simulated_verbs/queue_pair.h"

#include <algorithm>
#include <limits>

#include "fabric/assert.h"
#include "fabric/posting_rules.h"
#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/errors.h"
#include "simulated_verbs/memory_region.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/queue_pair_states.h"
#include "simulated_verbs/subnet.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

constexpr std::uint32_t most_packet_number = 0xff'ffff;
constexpr std::uint8_t most_tries = 7;
constexpr std::uint8_t most_timeout = 31;
// The time of timeout n is 4.096 us * 2^n, and 0 is without end.
constexpr std::uint64_t timeout_unit_ns = 4'096;
constexpr std::uint64_t endless_ns = std::uint64_t{1} << 58U;

fabric::Transport transport_of(ibv_qp_type type) {
  if (type == IBV_QPT_RC) return fabric::Transport::reliable_connection;
  return type == IBV_QPT_UC ? fabric::Transport::unreliable_connection
                            : fabric::Transport::unreliable_datagram;
}

}  // namespace

QueuePair::QueuePair(ProtectionDomain& owner, const ibv_qp_init_attr& wanted)
    : ibv_qp_ex{},
      process(owner.owner.process),
      domain(owner),
      sends(wrapper_of(wanted.send_cq)),
      receives(wrapper_of(wanted.recv_cq)),
      shared_receives(static_cast<SharedReceiveQueue*>(wanted.srq)),
      init(wanted),
      unacknowledged(process.host()) {
  qp_base.context = owner.context;
  qp_base.qp_context = wanted.qp_context;
  qp_base.pd = &owner;
  qp_base.send_cq = wanted.send_cq;
  qp_base.recv_cq = wanted.recv_cq;
  qp_base.srq = wanted.srq;
  qp_base.qp_num = process.subnet().next_queue_pair_number();
  qp_base.state = IBV_QPS_RESET;
  qp_base.qp_type = wanted.qp_type;
  ++domain.users;
  ++sends.users;
  ++receives.users;
  if (shared_receives != nullptr) ++shared_receives->users;
  process.subnet().add(process.lid(), qp_base.qp_num, *this);
}

QueuePair::~QueuePair() {
  process.subnet().remove(process.lid(), *this);
  --domain.users;
  --sends.users;
  --receives.users;
  if (shared_receives != nullptr) --shared_receives->users;
}

fabric::QueuePairOptions QueuePair::options() const {
  return {
      .transport = transport_of(qp_base.qp_type),
      .protection_domain = domain.domain.get(),
      .send_completions = sends.queue.get(),
      .receive_completions = receives.queue.get(),
      .shared_receive_queue = shared_receives == nullptr ? nullptr : shared_receives->queue.get(),
      .max_send_requests = std::max(init.cap.max_send_wr, 1U),
      .max_receive_requests = std::max(init.cap.max_recv_wr, 1U),
      .max_inline_bytes = init.cap.max_inline_data,
      .max_send_segments = std::max(init.cap.max_send_sge, 1U),
      .max_receive_segments = std::max(init.cap.max_recv_sge, 1U)};
}

int QueuePair::make() {
  pair.reset();  // before the new one needs its places in the completion queues
  auto made = sim::create_unconnected(process.host().device(0), options());
  if (!made) return errno_of(made.error());
  pair = std::move(*made);
  process.subnet().note_number(pair->number(), qp_base.qp_num);
  sim::set_event_of_end(*pair, *process.activity());
  raised = {};
  has_peer_ = false;
  reaches_nobody_ = false;
  return 0;
}

ibv_qp_state QueuePair::current_state() const {
  const bool has_failed = pair->state() == fabric::QueuePairState::error;
  return has_failed ? IBV_QPS_ERR : qp_base.state;
}

bool QueuePair::may_receive() const {
  const ibv_qp_state now = current_state();
  return now == IBV_QPS_RTR || now == IBV_QPS_RTS;
}

int QueuePair::modify(const ibv_qp_attr& wanted, int mask) {
  qp_base.state = current_state();
  if ((mask & IBV_QP_CUR_STATE) != 0 && wanted.cur_qp_state != qp_base.state) return EINVAL;
  const ibv_qp_state next = (mask & IBV_QP_STATE) != 0 ? wanted.qp_state : qp_base.state;
  if (next == IBV_QPS_SQD) {
    report_not_simulated("ibv_modify_qp: IBV_QPS_SQD");
    return EOPNOTSUPP;
  }
  if (!may_change_state(qp_base.qp_type, qp_base.state, next, mask)) return EINVAL;
  if (const int error = check_attributes(wanted, mask); error != 0) return error;
  take_attributes(wanted, mask);
  return enter(next);
}

int QueuePair::check_attributes(const ibv_qp_attr& wanted, int mask) const {
  const auto has = [&](int attribute) { return (mask & attribute) != 0; };
  const fabric::DeviceAttributes& device = process.host().device(0).attributes();
  const std::uint32_t most_reads = device.max_outstanding_reads_and_atomics;
  const bool is_wrong =
      (has(IBV_QP_PORT) && wanted.port_num != only_port) ||
      (has(IBV_QP_PKEY_INDEX) && wanted.pkey_index != 0) ||
      (has(IBV_QP_PATH_MTU) &&
       (wanted.path_mtu < IBV_MTU_256 || wanted.path_mtu > active_mtu(process))) ||
      (has(IBV_QP_AV) && (wanted.ah_attr.port_num != only_port ||
                          process.subnet().host_of(destination_of(wanted.ah_attr)) == nullptr)) ||
      (has(IBV_QP_DEST_QPN) && wanted.dest_qp_num > most_packet_number) ||
      (has(IBV_QP_MAX_QP_RD_ATOMIC) && wanted.max_rd_atomic > most_reads) ||
      (has(IBV_QP_MAX_DEST_RD_ATOMIC) && wanted.max_dest_rd_atomic > most_reads) ||
      (has(IBV_QP_TIMEOUT) && wanted.timeout > most_timeout) ||
      (has(IBV_QP_MIN_RNR_TIMER) && wanted.min_rnr_timer > most_timeout) ||
      (has(IBV_QP_RETRY_CNT) && wanted.retry_cnt > most_tries) ||
      (has(IBV_QP_RNR_RETRY) && wanted.rnr_retry > most_tries);
  return is_wrong ? EINVAL : 0;
}

void QueuePair::take_attributes(const ibv_qp_attr& wanted, int mask) {
  const auto take = [&](int attribute, auto ibv_qp_attr::*member) {
    if ((mask & attribute) != 0) attributes.*member = wanted.*member;
  };
  take(IBV_QP_ACCESS_FLAGS, &ibv_qp_attr::qp_access_flags);
  take(IBV_QP_PKEY_INDEX, &ibv_qp_attr::pkey_index);
  take(IBV_QP_PORT, &ibv_qp_attr::port_num);
  take(IBV_QP_QKEY, &ibv_qp_attr::qkey);
  take(IBV_QP_AV, &ibv_qp_attr::ah_attr);
  take(IBV_QP_PATH_MTU, &ibv_qp_attr::path_mtu);
  take(IBV_QP_TIMEOUT, &ibv_qp_attr::timeout);
  take(IBV_QP_RETRY_CNT, &ibv_qp_attr::retry_cnt);
  take(IBV_QP_RNR_RETRY, &ibv_qp_attr::rnr_retry);
  take(IBV_QP_RQ_PSN, &ibv_qp_attr::rq_psn);
  take(IBV_QP_MAX_QP_RD_ATOMIC, &ibv_qp_attr::max_rd_atomic);
  take(IBV_QP_MIN_RNR_TIMER, &ibv_qp_attr::min_rnr_timer);
  take(IBV_QP_SQ_PSN, &ibv_qp_attr::sq_psn);
  take(IBV_QP_MAX_DEST_RD_ATOMIC, &ibv_qp_attr::max_dest_rd_atomic);
  take(IBV_QP_DEST_QPN, &ibv_qp_attr::dest_qp_num);
}

int QueuePair::enter(ibv_qp_state next) {
  const ibv_qp_state before = std::exchange(qp_base.state, next);
  set_rights_of_peer();
  if (next == before) return 0;
  switch (next) {
    case IBV_QPS_RESET: attributes = {}; return make();
    case IBV_QPS_RTR:
      sim::become_ready(*pair);
      connect_if_possible();
      break;
    case IBV_QPS_RTS:
      set_limits_as_requester();
      connect_if_possible();
      if (const QueuePair* const peer = has_peer_ ? named_peer() : nullptr) {
        reaches_nobody_ = is_out_of_sequence_with(*peer);
      }
      break;
    case IBV_QPS_ERR: pair->move_to_error(); break;
    default: break;
  }
  return 0;
}

void QueuePair::set_limits_as_requester() {
  const std::uint64_t timeout_ns =
      attributes.timeout == 0 ? endless_ns : timeout_unit_ns << attributes.timeout;
  sim::set_limits_as_requester(*pair,
                               {.max_outstanding_reads_and_atomics = attributes.max_rd_atomic,
                                .acknowledge_timeout_ns = timeout_ns,
                                .retry_count = attributes.retry_cnt,
                                .receiver_not_ready_retry_count = attributes.rnr_retry});
}

// Without resources for READs and atomics, the responder refuses them.
void QueuePair::set_rights_of_peer() {
  fabric::Access rights = access_of(attributes.qp_access_flags);
  if (attributes.max_dest_rd_atomic == 0) rights.remote_read = rights.remote_atomic = false;
  sim::set_rights_of_peer(*pair, rights);
}

QueuePair* QueuePair::named_peer() const {
  if (qp_base.qp_type == IBV_QPT_UD) return nullptr;
  return process.subnet().find(destination_of(attributes.ah_attr), attributes.dest_qp_num);
}

bool QueuePair::names(const QueuePair& other) const {
  return destination_of(attributes.ah_attr) == other.process.lid() &&
         attributes.dest_qp_num == other.qp_base.qp_num;
}

void QueuePair::connect_if_possible() {
  QueuePair* const peer = named_peer();
  if (peer == nullptr && qp_base.qp_type != IBV_QPT_UD) sim::give_up_waiting_for_peer(*pair);
  if (peer == nullptr || peer == this || has_peer_ || peer->has_peer_) return;
  if (peer->qp_base.qp_type != qp_base.qp_type || !peer->may_receive() || !may_receive()) return;
  if (!peer->names(*this)) return;
  if (is_out_of_sequence_with(*peer) || peer->is_out_of_sequence_with(*this)) {
    sim::give_up_waiting_for_peer(*pair);
    sim::give_up_waiting_for_peer(*peer->pair);
    return;
  }
  has_peer_ = peer->has_peer_ = true;
  sim::join(*pair, *peer->pair);
}

// A responder drops packets that do not have the numbers that it expects, until the retries of the
// requester are used up.
bool QueuePair::is_out_of_sequence_with(const QueuePair& responder) const {
  const std::uint32_t difference = attributes.sq_psn ^ responder.attributes.rq_psn;
  return qp_base.state == IBV_QPS_RTS && qp_base.qp_type == IBV_QPT_RC &&
         (difference & most_packet_number) != 0;
}

void QueuePair::hear_end_of(const QueuePair& peer) {
  if (!has_peer_ && qp_base.qp_type != IBV_QPT_UD && names(peer))
    sim::give_up_waiting_for_peer(*pair);
}

void QueuePair::query(ibv_qp_attr& queried, ibv_qp_init_attr& init_queried) const {
  queried = attributes;
  queried.qp_state = queried.cur_qp_state = current_state();
  queried.cap = init.cap;
  init_queried = init;
}

// Sending

namespace {

bool to_opcode(ibv_wr_opcode opcode, fabric::Opcode& translated) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE: translated = fabric::Opcode::write; return true;
    case IBV_WR_RDMA_WRITE_WITH_IMM: translated = fabric::Opcode::write_with_immediate; return true;
    case IBV_WR_SEND: translated = fabric::Opcode::send; return true;
    case IBV_WR_SEND_WITH_IMM: translated = fabric::Opcode::send_with_immediate; return true;
    case IBV_WR_RDMA_READ: translated = fabric::Opcode::read; return true;
    case IBV_WR_ATOMIC_CMP_AND_SWP: translated = fabric::Opcode::compare_and_swap; return true;
    case IBV_WR_ATOMIC_FETCH_AND_ADD: translated = fabric::Opcode::fetch_and_add; return true;
    default: return false;
  }
}

// Adds up the lengths. Returns false if the message would be longer than any.
bool add_lengths(const ibv_sge* list, int count, std::uint32_t& length_bytes) {
  std::uint64_t sum = 0;
  for (int index = 0; index < count; ++index) sum += list[index].length;
  length_bytes = static_cast<std::uint32_t>(sum);
  return sum <= std::numeric_limits<std::uint32_t>::max();
}

// A list of one entry becomes `single`, a longer one `segments`. Entries without bytes are left
// out.
void translate_list(const Subnet& subnet, const ibv_sge* list, int count,
                    fabric::MemoryAddress& single, std::vector<fabric::LocalSegment>& segments) {
  segments.clear();
  for (int index = 0; index < count; ++index) {
    const ibv_sge& entry = list[index];
    if (entry.length == 0) continue;
    segments.push_back(
        {.address = subnet.locate(entry.lkey, entry.addr), .length_bytes = entry.length});
  }
  if (segments.size() != 1) return;
  single = segments.front().address;
  segments.clear();
}

// The contract refuses at once what a device finds when the request's turn has come. Returns its
// status then; nothing if libibverbs refuses the request at once, too.
std::optional<fabric::CompletionStatus> fault_of(const fabric::WorkRequest& request,
                                                 const fabric::Error& error) {
  if (error.code == fabric::ErrorCode::access_denied ||
      error.code == fabric::ErrorCode::out_of_bounds) {
    return fabric::CompletionStatus::local_protection_error;
  }
  const bool is_misaligned =
      fabric::is_atomic(request.opcode) && request.remote.offset % fabric::word_bytes != 0;
  if (is_misaligned) return fabric::CompletionStatus::remote_invalid_request_error;
  return std::nullopt;
}

}  // namespace

bool QueuePair::may_post_sends() const {
  const ibv_qp_state now = current_state();
  return now == IBV_QPS_RTS || now == IBV_QPS_ERR;
}

int QueuePair::post_send(const ibv_send_wr& work) {
  if (!may_post_sends()) return EINVAL;
  if (init.cap.max_send_wr == 0) return ENOMEM;
  fabric::WorkRequest request;
  if (const int error = translate(work, request); error != 0) return error;
  if (reaches_nobody_) {
    const auto posted = sim::post_faulty(*pair, request, fabric::CompletionStatus::retry_exceeded);
    return posted ? 0 : errno_of(posted.error());
  }
  fabric::Result<void> posted = pair->post_send({&request, 1});
  if (posted) return 0;
  if (const auto fault = fault_of(request, posted.error())) {
    posted = sim::post_faulty(*pair, request, *fault);
  }
  return posted ? 0 : errno_of(posted.error());
}

int QueuePair::post_sends_together(std::span<const ibv_send_wr> works) {
  if (!may_post_sends()) return EINVAL;
  if (works.size() > init.cap.max_send_wr) return ENOMEM;
  for (const ibv_send_wr& work : works) {
    fabric::WorkRequest request;
    if (const int error = translate(work, request); error != 0) return error;
    const fabric::Result<void> checked =
        fabric::check_request(request, options(), process.host().device(0).attributes());
    if (!checked && !fault_of(request, checked.error())) return errno_of(checked.error());
  }
  if (works.size() > options().max_send_requests - sim::taken_places(*pair)) return ENOMEM;
  for (const ibv_send_wr& work : works) {
    const int error = post_send(work);
    FALAFEL_ASSERT(error == 0, "a request that was examined is refused: {}", error);
  }
  return 0;
}

int QueuePair::translate(const ibv_send_wr& work, fabric::WorkRequest& request) {
  if (!to_opcode(work.opcode, request.opcode)) {
    report_not_simulated("ibv_post_send: an opcode beyond READ, WRITE, SEND and the two atomics");
    return EOPNOTSUPP;
  }
  if (work.num_sge < 0 || static_cast<std::uint32_t>(work.num_sge) > init.cap.max_send_sge) {
    return EINVAL;
  }
  request.id = work.wr_id;
  request.signalled = init.sq_sig_all != 0 || (work.send_flags & IBV_SEND_SIGNALED) != 0;
  request.fenced = (work.send_flags & IBV_SEND_FENCE) != 0 && qp_base.qp_type == IBV_QPT_RC;
  request.inlined = (work.send_flags & IBV_SEND_INLINE) != 0;
  request.immediate = work.imm_data;
  if (!add_lengths(work.sg_list, work.num_sge, request.length_bytes)) return EINVAL;
  if (request.inlined) {
    if (const int error = stage_inline_data(work, request); error != 0) return error;
  } else {
    translate_list(process.subnet(), work.sg_list, work.num_sge, request.local, segments_);
    request.segments = segments_;
  }
  if (qp_base.qp_type == IBV_QPT_UD) return translate_destination(work, request);
  translate_remote(work, request);
  return 0;
}

void QueuePair::translate_remote(const ibv_send_wr& work, fabric::WorkRequest& request) const {
  if (fabric::is_send(request.opcode)) return;
  if (!fabric::is_atomic(request.opcode)) {
    request.remote = process.subnet().locate(work.wr.rdma.rkey, work.wr.rdma.remote_addr);
    return;
  }
  request.remote = process.subnet().locate(work.wr.atomic.rkey, work.wr.atomic.remote_addr);
  const bool swaps = request.opcode == fabric::Opcode::compare_and_swap;
  request.compare = swaps ? work.wr.atomic.compare_add : 0;
  request.swap_or_add = swaps ? work.wr.atomic.swap : work.wr.atomic.compare_add;
}

// Datagrams to nobody are lost, and so are those with another key than the receiver's.
int QueuePair::translate_destination(const ibv_send_wr& work, fabric::WorkRequest& request) const {
  if (work.wr.ud.ah == nullptr) return EINVAL;
  const std::uint16_t lid = static_cast<const AddressHandle*>(work.wr.ud.ah)->lid;
  const QueuePair* const receiver = process.subnet().find(lid, work.wr.ud.remote_qpn);
  const bool has_controlled_key = (work.wr.ud.remote_qkey & 0x8000'0000U) != 0;
  const std::uint32_t key = has_controlled_key ? attributes.qkey : work.wr.ud.remote_qkey;
  request.destination.host = lid - 1U;
  if (receiver != nullptr && receiver->may_receive() && receiver->attributes.qkey == key) {
    request.destination.queue_pair_number = receiver->pair->number();
  }
  return 0;
}

int QueuePair::stage_inline_data(const ibv_send_wr& work, fabric::WorkRequest& request) {
  if (request.length_bytes > init.cap.max_inline_data) return EINVAL;
  if (request.length_bytes == 0) return 0;
  if (stage_ == nullptr) {
    auto block = process.host().allocate_memory(init.cap.max_inline_data);
    if (!block) return ENOMEM;
    auto region =
        domain.domain->register_memory(*block, 0, init.cap.max_inline_data, fabric::Access{});
    if (!region) return ENOMEM;
    stage_ = std::move(*block);
    stage_region_ = std::move(*region);
  }
  std::span<std::byte> free = stage_->bytes();
  for (int index = 0; index < work.num_sge; ++index) {
    const ibv_sge& entry = work.sg_list[index];
    // libibverbs gives addresses as numbers.
    const auto* const source =
        reinterpret_cast<const std::byte*>(entry.addr);  // NOLINT(performance-no-int-to-ptr)
    std::copy_n(source, entry.length, free.begin());
    free = free.subspan(entry.length);
  }
  request.local = {stage_region_->local_key(), 0};
  return 0;
}

int QueuePair::post_receive(const ibv_recv_wr& work) {
  if (current_state() == IBV_QPS_RESET || shared_receives != nullptr) return EINVAL;
  if (init.cap.max_recv_wr == 0) return ENOMEM;
  fabric::ReceiveRequest request{.id = work.wr_id};
  if (work.num_sge < 0 || static_cast<std::uint32_t>(work.num_sge) > init.cap.max_recv_sge ||
      !add_lengths(work.sg_list, work.num_sge, request.length_bytes)) {
    return EINVAL;
  }
  translate_list(process.subnet(), work.sg_list, work.num_sge, request.local, segments_);
  request.segments = segments_;
  const fabric::Result<void> posted = pair->post_receive({&request, 1});
  return posted ? 0 : errno_of(posted.error());
}

SharedReceiveQueue::SharedReceiveQueue(ProtectionDomain& owner,
                                       std::unique_ptr<fabric::SharedReceiveQueue> made,
                                       const ibv_srq_init_attr& wanted)
    : ibv_srq{},
      domain(owner),
      queue(std::move(made)),
      limits(wanted.attr),
      unacknowledged(owner.owner.process.host()) {
  limits.srq_limit = 0;  // only ibv_modify_srq arms it
  context = owner.context;
  srq_context = wanted.srq_context;
  pd = &owner;
  ++domain.users;
}

int SharedReceiveQueue::post_receive(const ibv_recv_wr& work) {
  fabric::ReceiveRequest request{.id = work.wr_id};
  if (work.num_sge < 0 || static_cast<std::uint32_t>(work.num_sge) > limits.max_sge ||
      !add_lengths(work.sg_list, work.num_sge, request.length_bytes)) {
    return EINVAL;
  }
  std::vector<fabric::LocalSegment> segments;
  translate_list(domain.owner.process.subnet(), work.sg_list, work.num_sge, request.local,
                 segments);
  request.segments = segments;
  const fabric::Result<void> posted = queue->post_receive({&request, 1});
  return posted ? 0 : errno_of(posted.error());
}

}  // namespace falafel::simulated_verbs
