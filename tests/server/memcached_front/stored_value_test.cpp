#include "tools/server/memcached_front/stored_value.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace falafel::memcached_front {
namespace {

using namespace std::string_literals;

TEST(StoredValue, WithoutFlagsIsTheValueItself) {
  std::string buffer;
  EXPECT_EQ(encode({.value = "hello"}, buffer), "hello");
  EXPECT_EQ(decode("hello").value, "hello");
  EXPECT_EQ(decode("hello").flags, 0U);
}

TEST(StoredValue, FlagsPrecedeTheValueLeastSignificantByteFirst) {
  std::string buffer;
  EXPECT_EQ(encode({.value = "hello", .flags = 0x01020304}, buffer),
            "\xFAmc1\x04\x03\x02\x01hello"s);
}

TEST(StoredValue, AShortenedHeaderIsAValue) {
  EXPECT_EQ(decode("\xFAmc1\x04\x03\x02").value, "\xFAmc1\x04\x03\x02");
}

RC_GTEST_PROP(StoredValueProperty, IsTheSameAfterDecoding, (bool begins_with_magic)) {
  const auto rest = *rc::gen::arbitrary<std::string>();
  const auto flags = *rc::gen::element<std::uint32_t>(0, 1, 0xFFFF'FFFF);
  const std::string value = begins_with_magic ? std::string(stored_value_magic) + rest : rest;
  std::string buffer;
  const std::string stored(encode({.value = value, .flags = flags}, buffer));
  const FlaggedValue decoded = decode(stored);
  RC_ASSERT(decoded.value == value);
  RC_ASSERT(decoded.flags == flags);
}

}  // namespace
}  // namespace falafel::memcached_front
