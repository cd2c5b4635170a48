#include "simulated_verbs/queue_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/errors.h"
#include "simulated_verbs/invalid_calls.h"
#include "simulated_verbs/memory_region.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/process_site.h"
#include "simulated_verbs/queue_pair_states.h"
#include "simulated_verbs/subnet.h"

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
  process.subnet().remove(process.lid(), qp_base.qp_num);
  for (const auto& [address, other] : process.subnet().queue_pairs()) other->hear_end_of(*this);
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
  if ((mask & IBV_QP_CUR_STATE) != 0 && wanted.cur_qp_state != qp_base.state) {
    return refuse_call(process, "ibv_modify_qp: cur_qp_state is another state (11.2.5.2)", EINVAL);
  }
  const ibv_qp_state next = (mask & IBV_QP_STATE) != 0 ? wanted.qp_state : qp_base.state;
  if (next == IBV_QPS_SQD) {
    report_not_simulated("ibv_modify_qp: IBV_QPS_SQD");
    return EOPNOTSUPP;
  }
  if (!may_change_state(qp_base.qp_type, qp_base.state, next, mask)) {
    const std::string mistake =
        explain_refused_change(qp_base.qp_type, qp_base.state, next, mask) + " (11.2.5.2)";
    return refuse_call(process, mistake, EINVAL);
  }
  if (const int error = check_attributes(wanted, mask); error != 0) return error;
  take_attributes(wanted, mask);
  return enter(next);
}

int QueuePair::check_attributes(const ibv_qp_attr& wanted, int mask) const {
  const auto has = [&](int attribute) { return (mask & attribute) != 0; };
  const fabric::DeviceAttributes& device = process.host().device(0).attributes();
  const std::uint32_t most_reads = device.max_outstanding_reads_and_atomics;
  const bool is_known_path =
      wanted.path_mtu >= IBV_MTU_256 && wanted.path_mtu <= active_mtu(process);
  const bool is_known_address = wanted.ah_attr.port_num == only_port &&
                                process.subnet().host_of(destination_of(wanted.ah_attr)) != nullptr;
  struct Mistake {
    bool is_made;
    const char* attribute;
  };
  const std::array mistakes{
      Mistake{has(IBV_QP_PORT) && wanted.port_num != only_port, "port_num"},
      Mistake{has(IBV_QP_PKEY_INDEX) && wanted.pkey_index != 0, "pkey_index"},
      Mistake{has(IBV_QP_PATH_MTU) && !is_known_path, "path_mtu"},
      Mistake{has(IBV_QP_AV) && !is_known_address, "ah_attr"},
      Mistake{has(IBV_QP_DEST_QPN) && wanted.dest_qp_num > most_packet_number, "dest_qp_num"},
      Mistake{has(IBV_QP_MAX_QP_RD_ATOMIC) && wanted.max_rd_atomic > most_reads, "max_rd_atomic"},
      Mistake{has(IBV_QP_MAX_DEST_RD_ATOMIC) && wanted.max_dest_rd_atomic > most_reads,
              "max_dest_rd_atomic"},
      Mistake{has(IBV_QP_TIMEOUT) && wanted.timeout > most_timeout, "timeout"},
      Mistake{has(IBV_QP_MIN_RNR_TIMER) && wanted.min_rnr_timer > most_timeout, "min_rnr_timer"},
      Mistake{has(IBV_QP_RETRY_CNT) && wanted.retry_cnt > most_tries, "retry_cnt"},
      Mistake{has(IBV_QP_RNR_RETRY) && wanted.rnr_retry > most_tries, "rnr_retry"}};
  const auto* const mistake = std::ranges::find_if(mistakes, &Mistake::is_made);
  if (mistake == mistakes.end()) return 0;
  return refuse_call(
      process,
      fmt::format("ibv_modify_qp: the value of {} is not possible (11.2.5.2)", mistake->attribute),
      EINVAL);
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

}  // namespace falafel::simulated_verbs
