// The registrations that a device can page on demand.
#include "fabric/verbs/paging.h"

#include <gtest/gtest.h>

namespace falafel::verbs {
namespace {

using fabric::Access;

constexpr std::uint32_t all_uses = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
                                   IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
                                   IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV;
constexpr Access whole_chunk{.remote_read = true};
constexpr Access granted_region{.local_write = true, .remote_read = true, .remote_write = true};
constexpr Access table{.local_write = true, .remote_read = true, .remote_atomic = true};

ibv_odp_caps paging_device(std::uint32_t uses) {
  ibv_odp_caps device{};
  device.general_caps = IBV_ODP_SUPPORT;
  device.per_transport_caps.rc_odp_caps = uses;
  return device;
}

TEST(Paging, ADeviceWithAllCapabilitiesPagesEveryRegistration) {
  for (const Access& access : {Access{}, whole_chunk, granted_region, table}) {
    EXPECT_TRUE(can_page(paging_device(all_uses), access));
  }
}

TEST(Paging, ADeviceWithoutPagingPagesNothing) {
  EXPECT_EQ(missing_for_paging({}, whole_chunk), "IBV_ODP_SUPPORT");
  ibv_odp_caps device = paging_device(all_uses);
  device.general_caps = IBV_ODP_SUPPORT_IMPLICIT;
  EXPECT_FALSE(can_page(device, Access{}));
}

TEST(Paging, CapabilitiesOfOtherTransportsDoNotCount) {
  ibv_odp_caps device = paging_device(0);
  device.per_transport_caps.uc_odp_caps = device.per_transport_caps.ud_odp_caps = all_uses;
  EXPECT_EQ(missing_for_paging(device, Access{}), "IBV_ODP_SUPPORT_SEND, IBV_ODP_SUPPORT_WRITE");
}

TEST(Paging, EachRightNeedsItsCapability) {
  const auto missing_without = [](std::uint32_t use, const Access& access) {
    return missing_for_paging(paging_device(all_uses & ~use), access);
  };
  EXPECT_EQ(missing_without(IBV_ODP_SUPPORT_READ, whole_chunk), "IBV_ODP_SUPPORT_READ");
  EXPECT_EQ(missing_without(IBV_ODP_SUPPORT_READ, {}), "");
  EXPECT_EQ(missing_without(IBV_ODP_SUPPORT_WRITE, granted_region), "IBV_ODP_SUPPORT_WRITE");
  EXPECT_EQ(missing_without(IBV_ODP_SUPPORT_ATOMIC, table), "IBV_ODP_SUPPORT_ATOMIC");
  EXPECT_EQ(missing_without(IBV_ODP_SUPPORT_ATOMIC, {.remote_atomic = true}),
            "IBV_ODP_SUPPORT_ATOMIC");
  EXPECT_EQ(missing_without(IBV_ODP_SUPPORT_ATOMIC, whole_chunk), "");
}

// Requests of the host itself may use any registration by its local key.
TEST(Paging, UsesByTheHostItselfNeedTheirCapability) {
  const auto pages_without = [](std::uint32_t use, const Access& access) {
    return can_page(paging_device(all_uses & ~use), access);
  };
  for (const auto use : {IBV_ODP_SUPPORT_SEND, IBV_ODP_SUPPORT_WRITE}) {
    EXPECT_FALSE(pages_without(use, Access{}));
  }
  for (const auto use : {IBV_ODP_SUPPORT_RECV, IBV_ODP_SUPPORT_SRQ_RECV, IBV_ODP_SUPPORT_READ,
                         IBV_ODP_SUPPORT_ATOMIC}) {
    EXPECT_FALSE(pages_without(use, Access{.local_write = true}));
    EXPECT_TRUE(pages_without(use, Access{}));
  }
}

}  // namespace
}  // namespace falafel::verbs
