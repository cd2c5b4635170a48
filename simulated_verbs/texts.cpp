// The functions of libibverbs that name values, and that convert rates.
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>

namespace {

struct Rate {
  ibv_rate rate;
  int multiple;  // of 2.5 Gbit/s
  int mbps;
};
constexpr std::array rates{
    Rate{IBV_RATE_2_5_GBPS, 1, 2'500},     Rate{IBV_RATE_5_GBPS, 2, 5'000},
    Rate{IBV_RATE_10_GBPS, 4, 10'000},     Rate{IBV_RATE_20_GBPS, 8, 20'000},
    Rate{IBV_RATE_30_GBPS, 12, 30'000},    Rate{IBV_RATE_40_GBPS, 16, 40'000},
    Rate{IBV_RATE_60_GBPS, 24, 60'000},    Rate{IBV_RATE_80_GBPS, 32, 80'000},
    Rate{IBV_RATE_120_GBPS, 48, 120'000},  Rate{IBV_RATE_14_GBPS, 6, 14'062},
    Rate{IBV_RATE_56_GBPS, 22, 56'250},    Rate{IBV_RATE_112_GBPS, 45, 112'500},
    Rate{IBV_RATE_168_GBPS, 67, 168'750},  Rate{IBV_RATE_25_GBPS, 10, 25'781},
    Rate{IBV_RATE_100_GBPS, 41, 103'125},  Rate{IBV_RATE_200_GBPS, 82, 206'250},
    Rate{IBV_RATE_300_GBPS, 123, 309'375},
};

template <typename Value>
const Rate* find_rate(Value Rate::*member, Value value) {
  const auto found = std::ranges::find(rates, value, member);
  return found == rates.end() ? nullptr : &*found;
}

}  // namespace

extern "C" {

int ibv_rate_to_mult(ibv_rate rate) {
  const Rate* const found = find_rate(&Rate::rate, rate);
  return found == nullptr ? -1 : found->multiple;
}

ibv_rate mult_to_ibv_rate(int mult) {
  const Rate* const found = find_rate(&Rate::multiple, mult);
  return found == nullptr ? IBV_RATE_MAX : found->rate;
}

int ibv_rate_to_mbps(ibv_rate rate) {
  const Rate* const found = find_rate(&Rate::rate, rate);
  return found == nullptr ? -1 : found->mbps;
}

ibv_rate mbps_to_ibv_rate(int mbps) {
  const Rate* const found = find_rate(&Rate::mbps, mbps);
  return found == nullptr ? IBV_RATE_MAX : found->rate;
}

const char* ibv_wc_status_str(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS: return "success";
    case IBV_WC_LOC_LEN_ERR: return "local length error";
    case IBV_WC_LOC_QP_OP_ERR: return "local QP operation error";
    case IBV_WC_LOC_EEC_OP_ERR: return "local EE context operation error";
    case IBV_WC_LOC_PROT_ERR: return "local protection error";
    case IBV_WC_WR_FLUSH_ERR: return "Work Request Flushed Error";
    case IBV_WC_MW_BIND_ERR: return "memory management operation error";
    case IBV_WC_BAD_RESP_ERR: return "bad response error";
    case IBV_WC_LOC_ACCESS_ERR: return "local access error";
    case IBV_WC_REM_INV_REQ_ERR: return "remote invalid request error";
    case IBV_WC_REM_ACCESS_ERR: return "remote access error";
    case IBV_WC_REM_OP_ERR: return "remote operation error";
    case IBV_WC_RETRY_EXC_ERR: return "transport retry counter exceeded";
    case IBV_WC_RNR_RETRY_EXC_ERR: return "RNR retry counter exceeded";
    case IBV_WC_LOC_RDD_VIOL_ERR: return "local RDD violation error";
    case IBV_WC_REM_INV_RD_REQ_ERR: return "remote invalid RD request";
    case IBV_WC_REM_ABORT_ERR: return "remote aborted error";
    case IBV_WC_INV_EECN_ERR: return "invalid EE context number";
    case IBV_WC_INV_EEC_STATE_ERR: return "invalid EE context state";
    case IBV_WC_FATAL_ERR: return "fatal error";
    case IBV_WC_RESP_TIMEOUT_ERR: return "response timeout error";
    case IBV_WC_GENERAL_ERR: return "general error";
    case IBV_WC_TM_ERR: return "TM error";
    case IBV_WC_TM_RNDV_INCOMPLETE: return "TM software rendezvous";
  }
  return "unknown";
}

const char* ibv_node_type_str(ibv_node_type node_type) {
  return node_type == IBV_NODE_CA ? "InfiniBand channel adapter" : "unknown";
}

const char* ibv_port_state_str(ibv_port_state port_state) {
  switch (port_state) {
    case IBV_PORT_NOP: return "no state change (NOP)";
    case IBV_PORT_DOWN: return "down";
    case IBV_PORT_INIT: return "init";
    case IBV_PORT_ARMED: return "armed";
    case IBV_PORT_ACTIVE: return "active";
    case IBV_PORT_ACTIVE_DEFER: return "active defer";
  }
  return "invalid state";
}

const char* ibv_event_type_str(ibv_event_type event) {
  switch (event) {
    case IBV_EVENT_CQ_ERR: return "CQ error";
    case IBV_EVENT_QP_FATAL: return "local work queue catastrophic error";
    case IBV_EVENT_QP_REQ_ERR: return "invalid request local work queue error";
    case IBV_EVENT_QP_ACCESS_ERR: return "local access violation work queue error";
    case IBV_EVENT_COMM_EST: return "communication established";
    case IBV_EVENT_SQ_DRAINED: return "send queue drained";
    case IBV_EVENT_PATH_MIG: return "path migrated";
    case IBV_EVENT_PATH_MIG_ERR: return "path migration request error";
    case IBV_EVENT_DEVICE_FATAL: return "local catastrophic error";
    case IBV_EVENT_PORT_ACTIVE: return "port active";
    case IBV_EVENT_PORT_ERR: return "port error";
    case IBV_EVENT_LID_CHANGE: return "LID change";
    case IBV_EVENT_PKEY_CHANGE: return "P_Key change";
    case IBV_EVENT_SM_CHANGE: return "SM change";
    case IBV_EVENT_SRQ_ERR: return "SRQ catastrophic error";
    case IBV_EVENT_SRQ_LIMIT_REACHED: return "SRQ limit reached";
    case IBV_EVENT_QP_LAST_WQE_REACHED: return "last WQE reached";
    case IBV_EVENT_CLIENT_REREGISTER: return "client reregistration";
    case IBV_EVENT_GID_CHANGE: return "GID table change";
    case IBV_EVENT_WQ_FATAL: return "WQ fatal";
  }
  return "unknown";
}
}
