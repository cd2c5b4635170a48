// The particularities of queue pairs for datagrams: they are not connected, each request has a
// destination, and a header before the data of a message identifies the sender.
#include <cstring>

#include "fabric/verbs/queue_pair.h"

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

// The queue key of all datagrams. It is the same for all, because the number alone identifies a
// receiver.
constexpr std::uint32_t datagram_key = 0x0fa1'afe1;

}  // namespace

Result<void> QueuePair::become_ready_for_datagrams() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  int failed = ibv_modify_qp(raw_, &attributes, IBV_QP_STATE);
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = 0;
  if (failed == 0) failed = ibv_modify_qp(raw_, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN);
  if (failed == 0) return {};
  return make_error(ErrorCode::unsupported,
                    fmt::format("the device cannot make a queue pair for datagrams: {}; use RC",
                                words_of(failed)));
}

std::uint32_t QueuePair::key_of_datagrams() { return datagram_key; }

// Makes the address handle when something is sent to a host for the first time.
Result<void> QueuePair::prepare_destination(const fabric::DatagramAddress& destination) {
  const std::uint32_t host = destination.host;
  if (!addresses_->contains(host)) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("destination: there is no host {}; use an address from resolve() or from a "
                    "completion",
                    host));
  }
  if (host >= destinations_.size()) destinations_.resize(host + 1, nullptr);
  if (destinations_[host] != nullptr) return {};
  ibv_ah_attr attributes{};
  attributes.port_num = port_.port;
  attributes.is_global = 1;
  attributes.sl = port_.service_level;
  attributes.grh.sgid_index = port_.gid_index;
  attributes.grh.hop_limit = hop_limit;
  attributes.grh.traffic_class = port_.traffic_class;
  std::memcpy(attributes.grh.dgid.raw, addresses_->gid(host).data(),
              sizeof attributes.grh.dgid.raw);
  destinations_[host] = ibv_create_ah(domain_->raw.get(), &attributes);
  if (destinations_[host] != nullptr) return {};
  return make_error(
      ErrorCode::unreachable,
      fmt::format("{} cannot be reached: {}", to_string(addresses_->gid(host)), words_of(errno)));
}

void QueuePair::address(const fabric::DatagramAddress& destination, ibv_send_wr& out) const {
  out.wr.ud.ah = destinations_[destination.host];
  out.wr.ud.remote_qpn = destination.queue_pair_number;
  out.wr.ud.remote_qkey = datagram_key;
}

fabric::DatagramAddress QueuePair::source(const ibv_wc& entry, const RequestReference& receive) {
  const auto region = domain_->regions.find(receive.buffer.key);
  if (region == domain_->regions.end()) return {};  // the region was deregistered meanwhile
  ibv_grh header{};
  std::memcpy(&header, region->second.block + receive.buffer.offset, sizeof header);
  ibv_wc copy = entry;
  ibv_ah_attr back{};
  if (ibv_init_ah_from_wc(domain_->raw->context, port_.port, &copy, &header, &back) != 0) return {};
  Gid gid{};
  std::memcpy(gid.data(), back.grh.dgid.raw, gid.size());
  return {.host = addresses_->number_of(gid), .queue_pair_number = entry.src_qp};
}

void QueuePair::forget_destinations() {
  for (ibv_ah* const handle : destinations_) {
    if (handle != nullptr) ibv_destroy_ah(handle);
  }
  destinations_.clear();
}

}  // namespace falafel::verbs
