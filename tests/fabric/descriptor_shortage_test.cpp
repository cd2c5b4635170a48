#include "fabric/realtime/descriptor_shortage.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

namespace falafel::fabric {
namespace {

TEST(DescriptorShortage, IsCountedEachTimeAndReportedOncePerMinute) {
  std::vector<std::string> reports;
  DescriptorShortage shortage([&](std::string_view what) { reports.emplace_back(what); });
  constexpr std::uint64_t start_ns = 1'000'000;
  shortage.note("Too many open files", start_ns);
  shortage.note("Too many open files", start_ns + 1);
  shortage.note("Too many open files", start_ns + DescriptorShortage::report_interval_ns - 1);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find("Too many open files"), std::string::npos);
  EXPECT_NE(reports[0].find("LimitNOFILE"), std::string::npos);
  shortage.note("Too many open files", start_ns + DescriptorShortage::report_interval_ns);
  EXPECT_EQ(reports.size(), 2U);
  EXPECT_EQ(shortage.count(), 4U);
}

TEST(DescriptorShortage, IsCountedWhereNobodyReceivesReports) {
  DescriptorShortage shortage({});
  shortage.note("Too many open files");
  EXPECT_EQ(shortage.count(), 1U);
}

TEST(DescriptorShortage, IsNoOtherErrorOfAccept) {
  EXPECT_TRUE(is_out_of_descriptors(EMFILE));
  EXPECT_TRUE(is_out_of_descriptors(ENFILE));
  EXPECT_FALSE(is_out_of_descriptors(EAGAIN));
  EXPECT_FALSE(is_out_of_descriptors(ECONNABORTED));
}

}  // namespace
}  // namespace falafel::fabric
