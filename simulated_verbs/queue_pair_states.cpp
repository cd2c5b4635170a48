#include "simulated_verbs/queue_pair_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

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

const Change* find_change(ibv_qp_state from, ibv_qp_state to) {
  const auto change = std::ranges::find_if(
      changes, [&](const Change& each) { return each.from == from && each.to == to; });
  return change == changes.end() ? nullptr : &*change;
}

bool needs_no_attributes(ibv_qp_state to) { return to == IBV_QPS_RESET || to == IBV_QPS_ERR; }

struct Attribute {
  int flag;
  std::string_view name;
};
constexpr std::array attributes_by_name{
    Attribute{IBV_QP_CUR_STATE, "IBV_QP_CUR_STATE"},
    Attribute{IBV_QP_EN_SQD_ASYNC_NOTIFY, "IBV_QP_EN_SQD_ASYNC_NOTIFY"},
    Attribute{IBV_QP_ACCESS_FLAGS, "IBV_QP_ACCESS_FLAGS"},
    Attribute{IBV_QP_PKEY_INDEX, "IBV_QP_PKEY_INDEX"},
    Attribute{IBV_QP_PORT, "IBV_QP_PORT"},
    Attribute{IBV_QP_QKEY, "IBV_QP_QKEY"},
    Attribute{IBV_QP_AV, "IBV_QP_AV"},
    Attribute{IBV_QP_PATH_MTU, "IBV_QP_PATH_MTU"},
    Attribute{IBV_QP_TIMEOUT, "IBV_QP_TIMEOUT"},
    Attribute{IBV_QP_RETRY_CNT, "IBV_QP_RETRY_CNT"},
    Attribute{IBV_QP_RNR_RETRY, "IBV_QP_RNR_RETRY"},
    Attribute{IBV_QP_RQ_PSN, "IBV_QP_RQ_PSN"},
    Attribute{IBV_QP_MAX_QP_RD_ATOMIC, "IBV_QP_MAX_QP_RD_ATOMIC"},
    Attribute{IBV_QP_ALT_PATH, "IBV_QP_ALT_PATH"},
    Attribute{IBV_QP_MIN_RNR_TIMER, "IBV_QP_MIN_RNR_TIMER"},
    Attribute{IBV_QP_SQ_PSN, "IBV_QP_SQ_PSN"},
    Attribute{IBV_QP_MAX_DEST_RD_ATOMIC, "IBV_QP_MAX_DEST_RD_ATOMIC"},
    Attribute{IBV_QP_PATH_MIG_STATE, "IBV_QP_PATH_MIG_STATE"},
    Attribute{IBV_QP_CAP, "IBV_QP_CAP"},
    Attribute{IBV_QP_DEST_QPN, "IBV_QP_DEST_QPN"},
    Attribute{IBV_QP_RATE_LIMIT, "IBV_QP_RATE_LIMIT"}};

std::string names_of(int mask) {
  std::string names;
  for (const Attribute& attribute : attributes_by_name) {
    if ((mask & attribute.flag) == 0) continue;
    if (!names.empty()) names += ", ";
    names += attribute.name;
  }
  return names;
}

}  // namespace

bool may_change_state(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask) {
  const int attributes = mask & ~int{IBV_QP_STATE};
  if (needs_no_attributes(to)) return attributes == 0;
  const Change* const change = find_change(from, to);
  if (change == nullptr) return false;
  const int required = change->required.of(type);
  const int possible = required | change->optional.of(type);
  return (attributes & required) == required && (attributes & ~possible) == 0;
}

std::string explain_refused_change(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask) {
  const int attributes = mask & ~int{IBV_QP_STATE};
  const std::string change_of_states = fmt::format("from {} to {}", name_of(from), name_of(to));
  const Change* const change = find_change(from, to);
  if (change == nullptr && !needs_no_attributes(to)) {
    return fmt::format("ibv_modify_qp: a queue pair cannot go {}", change_of_states);
  }
  const int required = change == nullptr ? 0 : change->required.of(type);
  const int possible = change == nullptr ? 0 : required | change->optional.of(type);
  if (const int missing = required & ~attributes; missing != 0) {
    return fmt::format("ibv_modify_qp {} lacks {}", change_of_states, names_of(missing));
  }
  return fmt::format("ibv_modify_qp {} does not take {}", change_of_states,
                     names_of(attributes & ~possible));
}

std::string_view name_of(ibv_qp_state state) {
  constexpr std::array<std::string_view, 7> names{"RESET", "INIT", "RTR", "RTS",
                                                  "SQD",   "SQE",  "ERR"};
  const auto index = static_cast<std::size_t>(state);
  return index < names.size() ? names[index] : "an unknown state";
}

}  // namespace falafel::simulated_verbs
