// Memory whose pages come at a commit: what the system gives, takes back and refuses.
#include "fabric/realtime/reserved_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <span>
#include <vector>

#include "fabric/error.h"
#include "fabric/realtime/available_memory.h"

namespace falafel::fabric {
namespace {

constexpr std::uint64_t reserved_page_bytes = 4'096;

class ReservedPagesTest : public testing::Test {
 protected:
  static constexpr std::uint64_t page_count = 16;

  ~ReservedPagesTest() override { ::munmap(memory_.data(), memory_.size()); }

  std::span<std::byte> pages(std::uint64_t first, std::uint64_t count) const {
    return memory_.subspan(first * reserved_page_bytes, count * reserved_page_bytes);
  }
  // The numbers of the pages that hold memory.
  std::vector<std::size_t> resident_pages() const {
    std::vector<unsigned char> states(page_count);
    EXPECT_EQ(::mincore(memory_.data(), memory_.size(), states.data()), 0);
    std::vector<std::size_t> resident;
    for (std::size_t page = 0; page < page_count; ++page) {
      if ((states[page] & 1U) != 0) resident.push_back(page);
    }
    return resident;
  }

  std::span<std::byte> memory_ = reserve_pages(page_count * reserved_page_bytes).value();
};

using PageNumbers = std::vector<std::size_t>;

TEST_F(ReservedPagesTest, HoldMemoryFromTheCommitToTheRelease) {
  EXPECT_EQ(resident_pages(), PageNumbers{});
  ASSERT_TRUE(commit_pages(pages(3, 2)).has_value());
  EXPECT_EQ(resident_pages(), (PageNumbers{3, 4}));
  pages(4, 1)[7] = std::byte{9};
  ASSERT_TRUE(commit_pages(pages(4, 2)).has_value());
  EXPECT_EQ(resident_pages(), (PageNumbers{3, 4, 5}));
  EXPECT_EQ(pages(4, 1)[7], std::byte{9});
  give_back_pages(pages(4, 1));
  EXPECT_EQ(resident_pages(), (PageNumbers{3, 5}));
  EXPECT_EQ(pages(4, 1)[7], std::byte{0});
}

// A commit takes each page that has a byte of the range. A release leaves those that have others.
TEST_F(ReservedPagesTest, AreWhole) {
  ASSERT_TRUE(commit_pages(memory_.subspan(reserved_page_bytes - 1, 2)).has_value());
  EXPECT_EQ(resident_pages(), (PageNumbers{0, 1}));
  ASSERT_TRUE(commit_pages(pages(0, 4)).has_value());
  give_back_pages(memory_.subspan(1, 3 * reserved_page_bytes));
  EXPECT_EQ(resident_pages(), (PageNumbers{0, 3}));
  give_back_pages(memory_.subspan(1, reserved_page_bytes));
  give_back_pages(memory_.subspan(10, 20));
  EXPECT_EQ(resident_pages(), (PageNumbers{0, 3}));
  EXPECT_TRUE(commit_pages({}).has_value());
}

TEST_F(ReservedPagesTest, AreRefusedIfTheSystemHasTooFew) {
  if (!available_memory_bytes()) GTEST_SKIP() << "the system does not report its memory";
  constexpr std::uint64_t more_than_any_system_bytes = std::uint64_t{1} << 45U;
  const std::span<std::byte> large = reserve_pages(more_than_any_system_bytes).value();
  const auto refused = commit_pages(large);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  ::munmap(large.data(), large.size());
}

}  // namespace
}  // namespace falafel::fabric
