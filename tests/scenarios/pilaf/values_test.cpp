// Values of campaigns: a value that is not what somebody wrote is recognized.
#include "tools/scenarios/pilaf/values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fabric/text.h"
#include "stores/checksum.h"
#include "stores/crc64.h"
#include "stores/pilaf/layout.h"

namespace falafel::pilaf_scenario {
namespace {

std::set<std::size_t> lengths_of(Values values) {
  std::set<std::size_t> lengths;
  for (int number = 1; number < 1'000; ++number) {
    const std::string name = std::to_string(number);
    EXPECT_EQ(decode_value(encode_value(name, values), values), name);
    lengths.insert(encode_value(name, values).size());
  }
  return lengths;
}

TEST(Values, AreDecoded) {
  EXPECT_EQ(lengths_of(Values::equal_words),
            (std::set<std::size_t>{8, 24, 56, longest_value_bytes}));
  EXPECT_EQ(lengths_of(Values::colliding),
            (std::set<std::size_t>{23, 39, 71, margin_bytes + longest_value_bytes}));
}

// As extents with a key of one byte.
TEST(Values, OfAnAdversaryHaveOneCrcAndSoHaveTheirMixtures) {
  const auto extent_of = [](const std::string& name) {
    return pilaf::make_extent(fabric::bytes_of(std::string_view("k")),
                              encode_value(name, Values::colliding));
  };
  const auto first = extent_of("12");
  const auto second = extent_of("21");
  ASSERT_EQ(first.size(), second.size());
  EXPECT_NE(first, second);
  auto mixture = first;
  const std::size_t pair_at = pilaf::extent_header_bytes + 1 + margin_bytes;
  std::copy_n(second.begin() + pair_at, 16, mixture.begin() + pair_at);
  EXPECT_EQ(stores::crc64(first), stores::crc64(second));
  EXPECT_EQ(stores::crc64(first), stores::crc64(mixture));
  EXPECT_NE(mixture, first);
  const auto keyed = stores::Checksum::keyed(7);
  EXPECT_NE(keyed.of(first), keyed.of(second));
  EXPECT_NE(keyed.of(first), keyed.of(mixture));
}

TEST(Values, ThatNobodyWroteAreRecognized) {
  constexpr Values values = Values::equal_words;
  auto bytes = encode_value("12", values);
  const auto length = bytes.size();
  ASSERT_GE(length, 24U);
  const auto other = encode_value("97", values);
  std::copy_n(other.begin(), 8, bytes.begin() + 8);
  EXPECT_EQ(decode_value(bytes, values), std::to_string(length) + " bytes that nobody wrote");
  bytes = encode_value("12", values);
  bytes.resize(length + 8, std::byte{' '});
  EXPECT_EQ(decode_value(bytes, values), std::to_string(length + 8) + " bytes that nobody wrote");
  EXPECT_EQ(decode_value({}, values), "0 bytes that nobody wrote");
}

}  // namespace
}  // namespace falafel::pilaf_scenario
