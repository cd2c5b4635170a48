#include "tools/benchmarks/store/record.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace falafel::store_benchmark {
namespace {

std::string key_of(std::uint64_t number, std::size_t key_bytes) {
  std::vector<std::byte> key(key_bytes);
  write_key(number, key);
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

TEST(Record, KeysAreTheirNumbersInHexadecimalDigits) {
  EXPECT_EQ(key_of(0x12ab, 6), "0012ab");
  EXPECT_EQ(key_of(5, 18), "kk0000000000000005");
}

TEST(Record, KeysTellNumbersApartWhereTheyShould) {
  EXPECT_TRUE(has_enough_digits(256, 2));
  EXPECT_FALSE(has_enough_digits(257, 2));
  EXPECT_TRUE(has_enough_digits(~std::uint64_t{0}, 16));
  std::set<std::string> keys;
  for (std::uint64_t number = 0; number < 256; ++number) keys.insert(key_of(number, 2));
  EXPECT_EQ(keys.size(), 256U);
}

RC_GTEST_PROP(Record, AValueIsOfItsKeyAlone, (std::uint64_t key, std::uint64_t writer)) {
  std::vector<std::byte> value(*rc::gen::inRange<std::size_t>(8, 200));
  write_value(key, writer, value);
  RC_ASSERT(is_value_of(key, value));
  RC_ASSERT(!is_value_of(key + 1, value));
}

RC_GTEST_PROP(Record, AValueThatIsNotWholeIsRecognized, (std::uint64_t key, std::uint64_t writer)) {
  std::vector<std::byte> value(*rc::gen::inRange<std::size_t>(8, 200));
  write_value(key, writer, value);
  value[*rc::gen::inRange<std::size_t>(0, value.size())] ^= std::byte{0x10};
  RC_ASSERT(!is_value_of(key, value));
}

}  // namespace
}  // namespace falafel::store_benchmark
