// Memory that a program reserves, commits and releases (MemoryBlock::commit).
#include <cstdint>
#include <string>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE_WITHOUT_RC(CommittedMemoryTest);

constexpr std::uint64_t system_page_bytes = 4'096;
constexpr std::uint64_t reserved_bytes = 64 * system_page_bytes;
constexpr std::uint16_t service_for_reserved = 9;

void commit_range(MemoryBlock& block, std::uint64_t offset, std::uint64_t length_bytes) {
  const auto committed = block.commit(offset, length_bytes);
  ASSERT_TRUE(committed.has_value()) << committed.error().detail;
}

TEST_P(CommittedMemoryTest, OfNoSizeIsNotReserved) {
  run_alone(
      [](Host& host) { EXPECT_EQ(error_of(host.reserve_memory(0)), ErrorCode::invalid_argument); });
}

TEST_P(CommittedMemoryTest, IsZeroAtFirstAndThenHoldsWhatIsThere) {
  run_alone([](Host& host) {
    const auto block = require(host.reserve_memory(reserved_bytes));
    ASSERT_EQ(block->bytes().size(), reserved_bytes);
    const std::uint64_t offset = 3 * system_page_bytes - 104;
    commit_range(*block, offset, 2 * system_page_bytes);
    EXPECT_EQ(read_bytes(*block, offset, 2 * system_page_bytes),
              std::vector<std::byte>(2 * system_page_bytes));
    const std::vector<std::byte> data = pattern(5'000);
    block->write(offset, data);
    EXPECT_EQ(block->compare_and_swap(offset + 2 * system_page_bytes - 8, 0, 5), 0U);
    commit_range(*block, offset, system_page_bytes);
    commit_range(*block, 0, reserved_bytes);
    EXPECT_EQ(read_bytes(*block, offset, data.size()), data);
    EXPECT_EQ(block->load(offset + 2 * system_page_bytes - 8), 5U);
    EXPECT_EQ(block->load(0), 0U);
  });
}

TEST_P(CommittedMemoryTest, IsUsedAgainAfterItsRelease) {
  run_alone([](Host& host) {
    const auto block = require(host.reserve_memory(reserved_bytes));
    const std::vector<std::byte> data = pattern(4 * system_page_bytes);
    for (int round = 0; round < 3; ++round) {
      commit_range(*block, system_page_bytes, 4 * system_page_bytes);
      block->write(system_page_bytes, data);
      EXPECT_EQ(read_bytes(*block, system_page_bytes, data.size()), data);
      block->release(system_page_bytes, 4 * system_page_bytes);
      block->release(2 * system_page_bytes, system_page_bytes);
    }
  });
}

// The ranges share pages with their neighbors.
TEST_P(CommittedMemoryTest, WhatIsBesideAReleasedRangeStays) {
  run_alone([](Host& host) {
    const auto block = require(host.reserve_memory(reserved_bytes));
    const std::vector<std::byte> data = pattern(8 * system_page_bytes);
    commit_range(*block, 0, data.size());
    block->write(0, data);
    const std::uint64_t begin = system_page_bytes + 1'000;
    const std::uint64_t end = 6 * system_page_bytes - 1'000;
    block->release(begin, end - begin);
    const std::span<const std::byte> written(data);
    EXPECT_EQ(read_bytes(*block, 0, begin),
              std::vector<std::byte>(written.begin(), written.begin() + begin));
    EXPECT_EQ(read_bytes(*block, end, data.size() - end),
              std::vector<std::byte>(written.begin() + end, written.end()));
  });
}

TEST_P(CommittedMemoryTest, BlocksThatAreCommittedFromTheStartSupportItToo) {
  run_alone([](Host& host) {
    const auto block = require(host.allocate_memory(reserved_bytes));
    commit_range(*block, 0, reserved_bytes);
    block->store(0, 7);
    block->release(system_page_bytes, system_page_bytes);
    commit_range(*block, system_page_bytes, system_page_bytes);
    block->store(system_page_bytes, 8);
    EXPECT_EQ(block->load(0), 7U);
    EXPECT_EQ(block->load(system_page_bytes), 8U);
  });
}

void serve_reserved_memory(Host& host) {
  Site site(host);
  const auto block = require(host.reserve_memory(reserved_bytes));
  const auto region =
      require(site.protection_domain->register_memory(block, 0, reserved_bytes, all_rights));
  commit_range(*block, 0, system_page_bytes);
  const auto listener = require(site.device.listen(service_for_reserved));
  const Link link = accept_link(site, *listener, {}, to_private_data(region->remote_key()));
  const std::uint64_t seen = block->wait_until_changed(0, 0, never_ns);
  EXPECT_EQ(seen, 1U);
  commit_range(*block, system_page_bytes, 2 * system_page_bytes);
  block->release(system_page_bytes, system_page_bytes);
  block->store(8, 1);
  block->wait_until_changed(0, 1, never_ns);
}

// A READ of released memory succeeds, whatever it returns. What is committed is as any memory.
TEST_P(CommittedMemoryTest, PeersReadReleasedMemoryAndChangeCommittedMemory) {
  if (!capabilities().reliable_connection) GTEST_SKIP();
  run([](Backend& backend) {
    backend.add_host({.name = "server", .role = Role::server}, serve_reserved_memory);
    backend.add_host({.name = "client"}, [](Host& host) {
      Site site(host);
      const Memory local = site.make_memory(2 * system_page_bytes);
      Link link = connect_link(site, {.host = "server", .service = service_for_reserved});
      const auto key = from_private_data<std::uint32_t>(link.private_data);
      const auto add_one = [&] {
        WorkRequest add = make_request(Opcode::fetch_and_add, local.local(), 8, {key, 0});
        add.swap_or_add = 1;
        EXPECT_EQ(link.execute(add).status, CompletionStatus::success);
      };
      add_one();
      // The pauses let the server move under schedules that prefer the client.
      do {
        host.sleep_until(host.now_ns() + millisecond_ns);
        EXPECT_EQ(link.execute(make_request(Opcode::read, local.local(), 8, {key, 8})).status,
                  CompletionStatus::success);
      } while (local.block->load(0) == 0);
      EXPECT_EQ(link.execute(make_request(Opcode::read, local.local(), system_page_bytes,
                                          {key, system_page_bytes}))
                    .status,
                CompletionStatus::success);
      local.block->write(0, pattern(system_page_bytes));
      EXPECT_EQ(link.execute(make_request(Opcode::write, local.local(), system_page_bytes,
                                          {key, 2 * system_page_bytes}))
                    .status,
                CompletionStatus::success);
      const WorkRequest read = make_request(Opcode::read, local.local(system_page_bytes),
                                            system_page_bytes, {key, 2 * system_page_bytes});
      EXPECT_EQ(link.execute(read).status, CompletionStatus::success);
      EXPECT_EQ(read_bytes(*local.block, system_page_bytes, system_page_bytes),
                pattern(system_page_bytes));
      add_one();
    });
  });
}

TEST_P(CommittedMemoryTest, KeptMemoryHoldsWhatWasCommitted) {
  if (!capabilities().keeps_memory) GTEST_SKIP();
  run([](Backend& backend) {
    const std::string name = backend.name_of_kept_memory();
    backend.add_host({.name = "host", .role = Role::server}, [name](Host& host) {
      const std::vector<std::byte> data = pattern(system_page_bytes);
      {
        const KeptMemory kept = require(host.keep_reserved_memory(name, reserved_bytes));
        EXPECT_TRUE(kept.is_new);
        commit_range(*kept.block, 8 * system_page_bytes, 2 * system_page_bytes);
        kept.block->write(9 * system_page_bytes, data);
        kept.block->release(8 * system_page_bytes, system_page_bytes);
      }
      const KeptMemory again = require(host.keep_reserved_memory(name, reserved_bytes));
      EXPECT_FALSE(again.is_new);
      commit_range(*again.block, 9 * system_page_bytes, system_page_bytes);
      EXPECT_EQ(read_bytes(*again.block, 9 * system_page_bytes, system_page_bytes), data);
      EXPECT_EQ(error_of(host.keep_reserved_memory(name + " other", 0)),
                ErrorCode::invalid_argument);
    });
  });
}

}  // namespace
}  // namespace falafel::conformance
