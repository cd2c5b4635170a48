#include "fabric/verbs/paging.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace falafel::verbs {
namespace {

struct Capability {
  std::uint32_t bit;
  std::string_view name;
};

constexpr std::array capabilities{Capability{IBV_ODP_SUPPORT_SEND, "IBV_ODP_SUPPORT_SEND"},
                                  Capability{IBV_ODP_SUPPORT_RECV, "IBV_ODP_SUPPORT_RECV"},
                                  Capability{IBV_ODP_SUPPORT_WRITE, "IBV_ODP_SUPPORT_WRITE"},
                                  Capability{IBV_ODP_SUPPORT_READ, "IBV_ODP_SUPPORT_READ"},
                                  Capability{IBV_ODP_SUPPORT_ATOMIC, "IBV_ODP_SUPPORT_ATOMIC"},
                                  Capability{IBV_ODP_SUPPORT_SRQ_RECV, "IBV_ODP_SUPPORT_SRQ_RECV"}};

std::uint32_t needed_capabilities(const fabric::Access& access) {
  std::uint32_t needed = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE;
  if (access.local_write) {
    needed |= IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV | IBV_ODP_SUPPORT_READ |
              IBV_ODP_SUPPORT_ATOMIC;
  }
  if (access.remote_read) needed |= IBV_ODP_SUPPORT_READ;
  if (access.remote_atomic) needed |= IBV_ODP_SUPPORT_ATOMIC;
  return needed;
}

}  // namespace

std::string missing_for_paging(const ibv_odp_caps& device, const fabric::Access& access) {
  if ((device.general_caps & IBV_ODP_SUPPORT) == 0) return "IBV_ODP_SUPPORT";
  const std::uint32_t missing =
      needed_capabilities(access) & ~device.per_transport_caps.rc_odp_caps;
  std::string names;
  for (const Capability& capability : capabilities) {
    if ((missing & capability.bit) == 0) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", capability.name);
  }
  return names;
}

}  // namespace falafel::verbs
