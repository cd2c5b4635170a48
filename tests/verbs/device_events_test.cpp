// Tests the reports of asynchronous events of a device.
#include "fabric/verbs/device_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace falafel::verbs {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(DeviceEvents, APortThatGoesDownIsNamedWithTheRemedy) {
  const auto text = describe_event("mlx5_0", IBV_EVENT_PORT_ERR, 2);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, StartsWith("device mlx5_0 port 2: port error"));
  EXPECT_THAT(*text, HasSubstr("Check the cable"));
}

TEST(DeviceEvents, AFailedDeviceIsNamedWithoutAPort) {
  const auto text = describe_event("mlx5_0", IBV_EVENT_DEVICE_FATAL, 0);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, StartsWith("device mlx5_0: "));
  EXPECT_THAT(*text, HasSubstr("Restart this program"));
}

TEST(DeviceEvents, EventsOfQueuesAreLeftToTheirRequests) {
  EXPECT_FALSE(describe_event("mlx5_0", IBV_EVENT_QP_FATAL, 0));
  EXPECT_FALSE(describe_event("mlx5_0", IBV_EVENT_COMM_EST, 0));
  EXPECT_FALSE(describe_event("mlx5_0", IBV_EVENT_QP_LAST_WQE_REACHED, 0));
  EXPECT_FALSE(describe_event("mlx5_0", IBV_EVENT_CQ_ERR, 0));
}

}  // namespace
}  // namespace falafel::verbs
