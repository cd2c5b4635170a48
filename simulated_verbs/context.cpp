#include "simulated_verbs/context.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "fabric/fabric.h"
#include "simulated_verbs/process_site.h"

namespace falafel::simulated_verbs {

namespace {

// ::ffff:10.0.0.0, and the LID in the last two bytes.
constexpr std::array<std::uint8_t, 14> gid_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0};

}  // namespace

Device::Device(ProcessSite& owner) : ibv_device{}, process(owner) {
  node_type = IBV_NODE_CA;
  transport_type = IBV_TRANSPORT_IB;
  std::strncpy(name, "simulated0", sizeof name - 1);
  std::strncpy(dev_name, "uverbs0", sizeof dev_name - 1);
}

Context::Context(Device& opened) : verbs_context{}, process(opened.process) {
  sz = sizeof(verbs_context);
  context.device = &opened;
  context.num_comp_vectors = 1;
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
}

ibv_gid gid_of(std::uint16_t lid) {
  ibv_gid gid{};
  std::ranges::copy(gid_prefix, gid.raw);
  const std::uint16_t last = htons(lid);
  std::memcpy(gid.raw + gid_prefix.size(), &last, sizeof last);
  return gid;
}

std::uint16_t lid_of(const ibv_gid& gid) {
  if (!std::equal(gid_prefix.begin(), gid_prefix.end(), gid.raw)) return 0;
  std::uint16_t last = 0;
  std::memcpy(&last, gid.raw + gid_prefix.size(), sizeof last);
  return ntohs(last);
}

std::uint16_t destination_of(const ibv_ah_attr& address) {
  return address.is_global != 0 ? lid_of(address.grh.dgid) : address.dlid;
}

ibv_mtu active_mtu(const ProcessSite& process) {
  const std::uint32_t mtu_bytes = process.host().device(0).attributes().mtu_bytes;
  if (mtu_bytes >= 4096) return IBV_MTU_4096;
  if (mtu_bytes >= 2048) return IBV_MTU_2048;
  if (mtu_bytes >= 1024) return IBV_MTU_1024;
  return mtu_bytes >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

}  // namespace falafel::simulated_verbs
