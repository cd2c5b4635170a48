// Values of campaigns: a value that is not what somebody wrote is recognized.
#include "tools/scenarios/pilaf/values.h"

#include <gtest/gtest.h>

#include <set>

namespace falafel::pilaf_scenario {
namespace {

TEST(Values, AreDecoded) {
  std::set<std::size_t> lengths;
  for (int number = 1; number < 1'000; ++number) {
    const std::string name = std::to_string(number);
    EXPECT_EQ(decode_value(encode_value(name)), name);
    lengths.insert(encode_value(name).size());
  }
  EXPECT_EQ(lengths, (std::set<std::size_t>{8, 24, 56, longest_value_bytes}));
}

TEST(Values, ThatNobodyWroteAreRecognized) {
  auto bytes = encode_value("12");
  const auto length = bytes.size();
  ASSERT_GE(length, 24U);
  const auto other = encode_value("97");
  std::copy_n(other.begin(), 8, bytes.begin() + 8);
  EXPECT_EQ(decode_value(bytes), std::to_string(length) + " bytes that nobody wrote");
  bytes = encode_value("12");
  bytes.resize(length + 8, std::byte{' '});
  EXPECT_EQ(decode_value(bytes), std::to_string(length + 8) + " bytes that nobody wrote");
  EXPECT_EQ(decode_value({}), "0 bytes that nobody wrote");
}

}  // namespace
}  // namespace falafel::pilaf_scenario
