#include "simulated_verbs/queue_pair_states.h"

#include <algorithm>
#include <array>

namespace falafel::simulated_verbs {

namespace {

// Sets of attributes for RC, UC and UD.
struct Masks {
  int reliable = 0;
  int unreliable = 0;
  int datagram = 0;

  int of(ibv_qp_type type) const {
    if (type == IBV_QPT_RC) return reliable;
    return type == IBV_QPT_UC ? unreliable : datagram;
  }
};

struct Change {
  ibv_qp_state from = IBV_QPS_RESET;
  ibv_qp_state to = IBV_QPS_RESET;
  Masks required;
  Masks optional;
};

constexpr int port_and_rights = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int port_and_qkey = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
constexpr int path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr int migration = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
constexpr int requester =
    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr Masks while_sending{
    .reliable = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | migration,
    .unreliable = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | migration,
    .datagram = IBV_QP_CUR_STATE | IBV_QP_QKEY};

constexpr std::array changes{
    Change{.from = IBV_QPS_RESET,
           .to = IBV_QPS_INIT,
           .required = {port_and_rights, port_and_rights, port_and_qkey},
           .optional = {}},
    Change{.from = IBV_QPS_INIT,
           .to = IBV_QPS_INIT,
           .required = {},
           .optional = {port_and_rights, port_and_rights, port_and_qkey}},
    Change{.from = IBV_QPS_INIT,
           .to = IBV_QPS_RTR,
           .required = {path | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, path, 0},
           .optional = {IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
                        IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
                        IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
    Change{.from = IBV_QPS_RTR,
           .to = IBV_QPS_RTS,
           .required = {requester, IBV_QP_SQ_PSN, IBV_QP_SQ_PSN},
           .optional = while_sending},
    Change{.from = IBV_QPS_RTS, .to = IBV_QPS_RTS, .required = {}, .optional = while_sending},
    Change{.from = IBV_QPS_SQE,
           .to = IBV_QPS_RTS,
           .required = {},
           .optional = {0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
};

}  // namespace

bool may_change_state(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask) {
  const int attributes = mask & ~int{IBV_QP_STATE};
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return attributes == 0;
  const auto change = std::ranges::find_if(
      changes, [&](const Change& each) { return each.from == from && each.to == to; });
  if (change == changes.end()) return false;
  const int required = change->required.of(type);
  const int possible = required | change->optional.of(type);
  return (attributes & required) == required && (attributes & ~possible) == 0;
}

}  // namespace falafel::simulated_verbs
