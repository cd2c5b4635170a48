// Tests what doctor says about devices that a machine of the tests does not have.
#include "fabric/verbs/device_check.h"
#include "fabric/time_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "fabric/error.h"
#include "fabric/verbs/cards.h"
#include "fabric/verbs/detection.h"
#include "fabric/work_request.h"

namespace falafel::verbs {
namespace {

using testing::HasSubstr;

constexpr Demands small_server{.memory_bytes = std::uint64_t{1} << 30U, .clients = 64};

DeviceFacts sound_device() {
  DeviceFacts device{.name = "mlx5_0"};
  device.attributes.vendor_id = 0x02c9;
  device.attributes.atomic_cap = IBV_ATOMIC_HCA;
  device.attributes.max_mr_size = ~std::uint64_t{0};
  device.attributes.max_mr = 1'000'000;
  device.attributes.max_pd = 1'000'000;
  device.attributes.max_qp = 100'000;
  device.attributes.max_qp_rd_atom = 16;
  device.attributes.max_qp_init_rd_atom = 16;
  return device;
}

std::vector<Finding> problems_of(const DeviceFacts& device, const Demands& demands = small_server) {
  std::vector<Finding> findings = check_device(device, demands);
  std::erase_if(findings, [](const Finding& finding) { return finding.grade != Grade::problem; });
  return findings;
}

void expect_problem(const DeviceFacts& device, const std::string& fact, const std::string& remedy,
                    const Demands& demands = small_server) {
  const std::vector<Finding> problems = problems_of(device, demands);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].subject, "device " + device.name);
  EXPECT_THAT(problems[0].fact, HasSubstr(fact));
  EXPECT_THAT(problems[0].remedy, HasSubstr(remedy));
}

TEST(DeviceCheck, ASoundDeviceHasNoProblem) {
  EXPECT_TRUE(problems_of(sound_device()).empty());
  EXPECT_TRUE(problems_of(sound_device(), {}).empty());
}

TEST(DeviceCheck, TellsWhetherMemoryCanGrow) {
  const auto tells = [](const DeviceFacts& device, const std::string& text) {
    return std::ranges::any_of(check_device(device, small_server), [&](const Finding& finding) {
      return finding.grade == Grade::good && finding.fact.find(text) != std::string::npos;
    });
  };
  DeviceFacts device = sound_device();
  EXPECT_TRUE(tells(device, "no on-demand paging for reliable connections (IBV_ODP_SUPPORT)"));
  device.paging.general_caps = IBV_ODP_SUPPORT;
  device.paging.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
                                                 IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
                                                 IBV_ODP_SUPPORT_SRQ_RECV;
  EXPECT_TRUE(tells(device,
                    "can grow (--max-memory); it pins tables, because "
                    "IBV_ODP_SUPPORT_ATOMIC is missing"));
  device.paging.per_transport_caps.rc_odp_caps |= IBV_ODP_SUPPORT_ATOMIC;
  EXPECT_TRUE(tells(device, "can grow (--max-memory)"));
  EXPECT_FALSE(tells(device, "pins"));
}

TEST(DeviceCheck, AnE810HasNoAtomics) {
  DeviceFacts device = sound_device();
  device.name = "irdma0";
  device.attributes.vendor_id = 0x8086;
  device.attributes.atomic_cap = IBV_ATOMIC_NONE;
  expect_problem(device, "no atomics", "Intel E810, X722 (irdma)");
  expect_problem(device, "no atomics", "Intel IPU E2000 (GEN3)");
}

TEST(DeviceCheck, EfaHasNeitherConnectionsNorAtomics) {
  DeviceFacts device = sound_device();
  device.attributes.vendor_id = 0x1d0f;
  device.attributes.atomic_cap = IBV_ATOMIC_NONE;
  device.queue_pair_error = EOPNOTSUPP;
  const std::vector<Finding> problems = problems_of(device);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0].fact, HasSubstr("no reliable connection (RC)"));
  EXPECT_THAT(problems[0].remedy, HasSubstr("UD and its own SRD only"));
  EXPECT_THAT(problems[1].fact, HasSubstr("no atomics"));
}

TEST(DeviceCheck, AnIwarpDeviceIsRefused) {
  DeviceFacts device = sound_device();
  device.attributes.vendor_id = 0x62'6d74;
  device.transport = IBV_TRANSPORT_IWARP;
  expect_problem(device, "iWARP", "Soft-iWARP");
}

TEST(DeviceCheck, AnUnknownVendorGetsNoAdvice) {
  DeviceFacts device = sound_device();
  device.attributes.vendor_id = 0x1234;
  device.attributes.atomic_cap = IBV_ATOMIC_NONE;
  const std::vector<Finding> problems = problems_of(device);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].remedy, "use another device");
}

TEST(DeviceCheck, LimitsAreComparedWithThePlannedServer) {
  DeviceFacts few_queue_pairs = sound_device();
  few_queue_pairs.attributes.max_qp = 65;
  expect_problem(few_queue_pairs, "65 queue pairs, but a server of 64 clients needs 66",
                 "fewer --clients");
  DeviceFacts few_regions = sound_device();
  few_regions.attributes.max_mr = 194;
  expect_problem(few_regions, "194 memory regions, but a server of 64 clients needs 195",
                 "fewer --clients");
  DeviceFacts few_domains = sound_device();
  few_domains.attributes.max_pd = 64;
  expect_problem(few_domains, "64 protection domains", "fewer --clients");
  DeviceFacts small_regions = sound_device();
  small_regions.attributes.max_mr_size = small_server.memory_bytes - 1;
  expect_problem(small_regions, "at most 1073741823 bytes", "--memory");
  DeviceFacts no_reads = sound_device();
  no_reads.attributes.max_qp_rd_atom = 0;
  expect_problem(no_reads, "0 outstanding READs and atomics as responder", "another device");
}

using fabric::second_ns;
constexpr std::uint64_t expected_ns = 14'300'000'000;

Finding judge(std::uint64_t took_ns,
              fabric::CompletionStatus status = fabric::CompletionStatus::retry_exceeded) {
  return judge_detection("device mlx5_0 port 1", Detection{.took_ns = took_ns, .status = status},
                         expected_ns);
}

TEST(Detection, IsSoundUpToTheBound) {
  for (const std::uint64_t took_ns : {4 * second_ns, 7'150'000'000UL, expected_ns}) {
    const Finding finding = judge(took_ns);
    EXPECT_EQ(finding.grade, Grade::good);
    EXPECT_EQ(finding.subject, "device mlx5_0 port 1");
    EXPECT_THAT(finding.fact, HasSubstr("the store expects 14.3 s at most"));
    EXPECT_EQ(finding.remedy, "");
  }
  EXPECT_THAT(judge(7'150'000'000).fact, HasSubstr("after 7.15 s (retry exceeded)"));
}

TEST(Detection, BeyondTheBoundIsToBePassedOn) {
  const Finding finding = judge(16'200'000'000);
  EXPECT_EQ(finding.grade, Grade::problem);
  EXPECT_THAT(finding.fact, HasSubstr("after 16.20 s (retry exceeded)"));
  EXPECT_THAT(finding.remedy, HasSubstr("--detection 33 "));
  EXPECT_THAT(finding.remedy, HasSubstr("--client-timeout"));
  EXPECT_THAT(finding.remedy, HasSubstr("server_timeout_ns"));
  EXPECT_EQ(judge(expected_ns + 1).grade, Grade::problem);
}

TEST(Detection, OfNothingIsAProblem) {
  const Finding other = judge(second_ns, fabric::CompletionStatus::remote_access_error);
  EXPECT_EQ(other.grade, Grade::problem);
  EXPECT_THAT(other.fact, HasSubstr("'remote access error' instead of 'retry exceeded'"));
  const Finding none =
      judge_detection("device mlx5_0 port 1",
                      fabric::make_error(fabric::ErrorCode::unreachable, "no answer"), expected_ns);
  EXPECT_EQ(none.grade, Grade::problem);
  EXPECT_THAT(none.fact, HasSubstr("cannot be measured: no answer"));
}

TEST(Cards, AreDistinctAndHaveSources) {
  std::set<std::string_view> names;
  for (const Card& card : known_cards()) {
    EXPECT_TRUE(names.insert(card.cards).second) << card.cards;
    EXPECT_FALSE(card.source.empty()) << card.cards;
  }
  EXPECT_EQ(advice_about(0), "");
}

}  // namespace
}  // namespace falafel::verbs
