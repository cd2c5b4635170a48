// The bytes of items, and what their verification detects.
#include "stores/c_hint/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "stores/c_hint/messages.h"
#include "tests/stores/c_hint/bytes.h"
#include "tools/scenarios/colliding_values.h"

namespace falafel::c_hint {
namespace {

using c_hint_test::bytes_of;
using c_hint_test::text_of;
using testing::HasSubstr;

constexpr std::array both{Verification::versions, Verification::checksum};

TEST(Item, ContainsKeyAndValue) {
  for (const Verification verification : both) {
    const auto item = make_item({verification}, 6, bytes_of("key"), bytes_of("value"));
    EXPECT_EQ(item.size(), 40U);
    const auto view = parse_item({verification}, item);
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->header.version, 6U);
    EXPECT_EQ(view->header.state, ItemState::live);
    EXPECT_EQ(text_of(view->key), "key");
    EXPECT_EQ(text_of(view->value), "value");
  }
}

TEST(Item, IsTheSameWhenItIsMarked) {
  for (const Verification verification : both) {
    auto item = make_item({verification}, 6, bytes_of("key"), bytes_of("value"));
    item[state_offset] = static_cast<std::byte>(ItemState::deleted);
    const auto view = parse_item({verification}, item);
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->header.state, ItemState::deleted);
  }
}

TEST(Item, DoesNotVerifyWithDifferentOrOddVersions) {
  auto item = make_item({Verification::versions}, 6, bytes_of("key"), bytes_of("value"));
  item.back() ^= std::byte{1};
  EXPECT_FALSE(parse_item({Verification::versions}, item));
  EXPECT_FALSE(parse_item({Verification::versions},
                          make_item({Verification::versions}, 7, bytes_of("key"), {})));
}

// Words of two values that an adversary has chosen, under the checksum of the first one.
TEST(Item, MixturesThatAnAdversaryHasChosenVerifyByTheCrcOnly) {
  constexpr std::size_t pairs = 2;
  constexpr std::size_t margin = 7;  // behind the key of one byte
  for (const bool is_keyed : {false, true}) {
    const Verifier verifier{Verification::checksum,
                            is_keyed ? stores::Checksum::keyed(3) : stores::Checksum()};
    const auto item_of = [&](std::string_view word) {
      return make_item(verifier, 6, bytes_of("k"),
                       scenarios::colliding_value(bytes_of(word), pairs, margin));
    };
    const auto first = item_of("11111111");
    const auto second = item_of("22222222");
    auto mixture = first;
    constexpr std::size_t pair_at = item_header_bytes + 8 + 16;
    std::copy_n(second.begin() + pair_at, 16, mixture.begin() + pair_at);
    ASSERT_NE(mixture, first);
    EXPECT_TRUE(parse_item(verifier, first));
    EXPECT_EQ(parse_item(verifier, mixture).has_value(), !is_keyed);
  }
}

TEST(Item, RejectsLengthsThatDoNotFit) {
  for (const Verification verification : both) {
    auto item = make_item({verification}, 6, bytes_of("key"), bytes_of("value"));
    item.resize(item.size() + 8);
    EXPECT_FALSE(parse_item({verification}, item));
    EXPECT_FALSE(parse_item({verification}, std::vector<std::byte>(64, std::byte{0xfe})));
    EXPECT_FALSE(parse_item({verification}, {}));
  }
}

// A READ moves words one by one, so a client may get words of two items at the same place.
RC_GTEST_PROP(Item, MixturesDoNotVerifyByChecksum, ()) {
  const std::uint64_t version = 2 * *rc::gen::inRange<std::uint64_t>(1, 3);
  const auto first = make_item({Verification::checksum}, version, bytes_of("key"),
                               bytes_of(std::string(24, *rc::gen::inRange('a', 'z'))));
  const std::uint64_t other_version = 2 * *rc::gen::inRange<std::uint64_t>(1, 3);
  const auto second = make_item({Verification::checksum}, other_version, bytes_of("key"),
                                bytes_of(std::string(24, *rc::gen::inRange('a', 'z'))));
  auto mixture = first;
  for (std::size_t at = 0; at < mixture.size(); at += fabric::word_bytes) {
    if (*rc::gen::arbitrary<bool>()) std::memcpy(&mixture[at], &second[at], fabric::word_bytes);
  }
  RC_ASSERT(mixture == first || mixture == second ||
            !parse_item({Verification::checksum}, mixture));
}

TEST(Layout, IsThatOfItsDocument) {
  std::ifstream file(std::string(FALAFEL_SOURCE_FOLDER) + "/stores/c_hint/README.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto row = [](std::size_t offset, std::size_t bytes, const char* field) {
    return "| " + std::to_string(offset) + " | " + std::to_string(bytes) + " | `" + field + "` |";
  };
  EXPECT_THAT(
      text, HasSubstr(row(offsetof(ItemHeader, version), sizeof(ItemHeader::version), "version")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(ItemHeader, key_bytes), sizeof(ItemHeader::key_bytes),
                                  "key_bytes")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(ItemHeader, value_bytes),
                                  sizeof(ItemHeader::value_bytes), "value_bytes")));
  EXPECT_THAT(text,
              HasSubstr(row(offsetof(ItemHeader, state), sizeof(ItemHeader::state), "state")));
  EXPECT_THAT(text, HasSubstr("| " + std::to_string(item_header_bytes) + " | | key, value"));
  EXPECT_THAT(text, HasSubstr(row(offsetof(ReportEntry, hash), sizeof(ReportEntry::hash), "hash")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(RenewedLease, lease_ns), sizeof(RenewedLease::lease_ns),
                                  "lease_ns")));
}

}  // namespace
}  // namespace falafel::c_hint
