// In which order a store tries its devices.
#include "falafel/device_rotation.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace falafel {
namespace {

using Indices = std::vector<std::size_t>;

// Devices of which some are broken.
struct Devices {
  DeviceRotation rotation{3};
  std::vector<bool> broken{false, false, false};
  Indices tried{};

  fabric::Result<void> connect() {
    tried.clear();
    return rotation.connect_by_any([this](std::size_t index) -> fabric::Result<void> {
      tried.push_back(index);
      if (!broken[index]) return {};
      return fabric::make_error(fabric::ErrorCode::unreachable, std::to_string(index));
    });
  }
};

TEST(DeviceRotation, KeepsTheDeviceThatConnects) {
  Devices devices;
  for (int time = 0; time < 3; ++time) {
    EXPECT_TRUE(devices.connect());
    EXPECT_EQ(devices.tried, Indices({0}));
  }
}

TEST(DeviceRotation, GoesOnToTheNextOneThatConnects) {
  Devices devices{.broken = {true, true, false}};
  EXPECT_TRUE(devices.connect());
  EXPECT_EQ(devices.tried, Indices({0, 1, 2}));
  devices.broken = {false, false, false};
  EXPECT_TRUE(devices.connect());
  EXPECT_EQ(devices.tried, Indices({2}));
  devices.broken = {false, false, true};
  EXPECT_TRUE(devices.connect());
  EXPECT_EQ(devices.tried, Indices({2, 0}));
}

TEST(DeviceRotation, TriesEachOneOnceIfNoneConnects) {
  Devices devices{.broken = {false, true, true}};
  EXPECT_TRUE(devices.connect());
  devices.broken = {true, true, true};
  const auto connected = devices.connect();
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().detail, "2");
  EXPECT_EQ(devices.tried, Indices({0, 1, 2}));
  devices.broken = {false, true, true};
  EXPECT_TRUE(devices.connect());
  EXPECT_EQ(devices.tried, Indices({0}));
}

}  // namespace
}  // namespace falafel
