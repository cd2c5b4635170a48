// The flags of libibverbs that stand for rights of a region.
#include "fabric/verbs/access_flags.h"

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

namespace falafel::verbs {
namespace {

using fabric::Access;
using fabric::ErrorCode;

TEST(AccessFlags, StandForTheRights) {
  EXPECT_EQ(flags_of(Access{}), 0);
  EXPECT_EQ(flags_of(Access{.local_write = true}), IBV_ACCESS_LOCAL_WRITE);
  EXPECT_EQ(flags_of(Access{.remote_read = true}), IBV_ACCESS_REMOTE_READ);
  EXPECT_EQ(flags_of(Access{.remote_write = true}), IBV_ACCESS_REMOTE_WRITE);
  EXPECT_EQ(flags_of(Access{.remote_atomic = true}), IBV_ACCESS_REMOTE_ATOMIC);
  EXPECT_EQ(flags_of(Access{.local_write = true, .remote_write = true}),
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

// The orders of regions are optional flags, which libibverbs passes on only to devices that know
// them. The second contains the first.
TEST(AccessFlags, OfOrdersAreOptionalOrRefusedByName) {
  const auto relaxed = flags_of(Access{.relaxed_ordering = true});
  if (relaxed) {
    EXPECT_EQ(*relaxed, IBV_ACCESS_OPTIONAL_FIRST);
  } else {
    EXPECT_EQ(relaxed.error().code, ErrorCode::unsupported);
    EXPECT_NE(relaxed.error().detail.find("IBV_ACCESS_RELAXED_ORDERING"), std::string::npos);
  }
  const auto unordered = flags_of(Access{.local_write = true, .unordered = true});
  if (unordered) {
    EXPECT_EQ(*unordered,
              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_OPTIONAL_FIRST | IBV_ACCESS_OPTIONAL_FIRST << 1);
  } else {
    EXPECT_EQ(unordered.error().code, ErrorCode::unsupported);
    EXPECT_NE(unordered.error().detail.find("IBV_ACCESS_UNORDERED"), std::string::npos);
  }
}

}  // namespace
}  // namespace falafel::verbs
