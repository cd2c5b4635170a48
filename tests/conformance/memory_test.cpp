// Memory: a host's own accesses, and the access that a registration grants to others.
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE_WITHOUT_RC(MemoryTest);

constexpr std::uint64_t page_bytes = 4096;

TEST_P(MemoryTest, IsZeroedAndAlignedToAPage) {
  run_alone([](Host& host) {
    for (const std::uint64_t size_bytes : {1U, 8U, 4096U, 10'000U}) {
      const auto block = require(host.allocate_memory(size_bytes));
      ASSERT_EQ(block->bytes().size(), size_bytes);
      EXPECT_EQ(std::bit_cast<std::uintptr_t>(block->bytes().data()) % page_bytes, 0U);
      EXPECT_EQ(read_bytes(*block, 0, size_bytes), std::vector<std::byte>(size_bytes));
    }
  });
}

TEST_P(MemoryTest, OfNoSizeIsRefused) {
  run_alone([](Host& host) {
    EXPECT_EQ(error_of(host.allocate_memory(0)), ErrorCode::invalid_argument);
  });
}

TEST_P(MemoryTest, KeepsWhatTheProcessorPutsThere) {
  run_alone([](Host& host) {
    const auto block = require(host.allocate_memory(page_bytes));
    block->store(64, 0x0123456789abcdef);
    EXPECT_EQ(block->load(64), 0x0123456789abcdefU);
    EXPECT_EQ(block->load(56), 0U);
    EXPECT_EQ(block->load(72), 0U);

    const std::vector<std::byte> data = pattern(100);
    block->write(1003, data);
    EXPECT_EQ(read_bytes(*block, 1003, 100), data);
    EXPECT_EQ(read_bytes(*block, 1002, 1), std::vector<std::byte>(1));
    EXPECT_EQ(read_bytes(*block, 1103, 1), std::vector<std::byte>(1));
    EXPECT_EQ(block->bytes()[1003], data[0]);
  });
}

TEST_P(MemoryTest, ProcessorComparesBeforeItSwaps) {
  run_alone([](Host& host) {
    const auto block = require(host.allocate_memory(page_bytes));
    EXPECT_EQ(block->compare_and_swap(8, 1, 2), 0U);
    EXPECT_EQ(block->load(8), 0U);
    EXPECT_EQ(block->compare_and_swap(8, 0, 2), 0U);
    EXPECT_EQ(block->load(8), 2U);
  });
}

void increment(Host& host, MemoryBlock& block) {
  while (true) {
    const std::uint64_t found = block.load(0);
    host.yield();
    if (block.compare_and_swap(0, found, found + 1) == found) return;
  }
}

TEST_P(MemoryTest, ProcessorSwapsAreAtomicAmongFibers) {
  run_alone([](Host& host) {
    constexpr std::uint64_t fiber_count = 4;
    constexpr std::uint64_t increments = 5;
    const auto block = require(host.allocate_memory(page_bytes));
    std::vector<FiberId> fibers;
    for (std::uint64_t fiber = 0; fiber < fiber_count; ++fiber) {
      fibers.push_back(spawn(host, [&] {
        for (std::uint64_t i = 0; i < increments; ++i) increment(host, *block);
      }));
    }
    for (const FiberId fiber : fibers) host.join(fiber);
    EXPECT_EQ(block->load(0), fiber_count * increments);
  });
}

// A block that no fabric created.
class ForeignBlock final : public MemoryBlock {
 public:
  std::span<std::byte> bytes() override { return bytes_; }
  std::uint64_t load(std::uint64_t) override { return 0; }
  void store(std::uint64_t, std::uint64_t) override {}
  std::uint64_t compare_and_swap(std::uint64_t, std::uint64_t, std::uint64_t) override { return 0; }
  void read(std::uint64_t, std::span<std::byte>) override {}
  void write(std::uint64_t, std::span<const std::byte>) override {}
  std::uint64_t wait_until_changed(std::uint64_t, std::uint64_t seen, std::uint64_t) override {
    return seen;
  }
  Result<void> commit(std::uint64_t /*offset*/, std::uint64_t /*length_bytes*/) override {
    return {};
  }
  void release(std::uint64_t /*offset*/, std::uint64_t /*length_bytes*/) override {}

 private:
  std::array<std::byte, 64> bytes_{};
};

TEST_P(MemoryTest, RegistrationNeedsABlockOfTheFabric) {
  run_alone([](Host& host) {
    const Site site(host);
    const auto error = [&](std::shared_ptr<MemoryBlock> block) {
      return error_of(site.protection_domain->register_memory(std::move(block), 0, 8, all_rights));
    };
    EXPECT_EQ(error(nullptr), ErrorCode::invalid_argument);
    EXPECT_EQ(error(std::make_shared<ForeignBlock>()), ErrorCode::invalid_argument);
  });
}

TEST_P(MemoryTest, RegistrationStaysWithinTheBlock) {
  run_alone([](Host& host) {
    const Site site(host);
    const auto block = require(host.allocate_memory(page_bytes));
    const auto error = [&](std::uint64_t offset, std::uint64_t length_bytes) {
      return error_of(
          site.protection_domain->register_memory(block, offset, length_bytes, all_rights));
    };
    EXPECT_EQ(error(0, page_bytes), std::nullopt);
    EXPECT_EQ(error(page_bytes - 1, 1), std::nullopt);
    EXPECT_EQ(error(0, page_bytes + 1), ErrorCode::out_of_bounds);
    EXPECT_EQ(error(page_bytes, 1), ErrorCode::out_of_bounds);
    EXPECT_EQ(error(never_ns, 2), ErrorCode::out_of_bounds);
    EXPECT_EQ(error(8, never_ns), ErrorCode::out_of_bounds);
    EXPECT_EQ(error(0, 0), ErrorCode::invalid_argument);
  });
}

TEST_P(MemoryTest, RemoteChangesNeedLocalWrite) {
  run_alone([](Host& host) {
    const Site site(host);
    const auto block = require(host.allocate_memory(page_bytes));
    const auto error = [&](Access access) {
      return error_of(site.protection_domain->register_memory(block, 0, page_bytes, access));
    };
    EXPECT_EQ(error({.remote_write = true}), ErrorCode::invalid_argument);
    EXPECT_EQ(error({.remote_atomic = true}), ErrorCode::invalid_argument);
    EXPECT_EQ(error({.remote_read = true}), std::nullopt);
    EXPECT_EQ(error({}), std::nullopt);
  });
}

TEST_P(MemoryTest, RegionTellsWhatItIs) {
  run_alone([](Host& host) {
    const Site site(host);
    const auto block = require(host.allocate_memory(page_bytes));
    const Access access{.local_write = true, .remote_read = true};
    const auto region = require(site.protection_domain->register_memory(block, 24, 1000, access));
    EXPECT_EQ(region->offset(), 24U);
    EXPECT_EQ(region->length_bytes(), 1000U);
    EXPECT_EQ(region->access(), access);
  });
}

TEST_P(MemoryTest, RightsThatAreRefusedChangeNothing) {
  const bool changes_access = capabilities().changes_access;
  run_alone([=](Host& host) {
    Site site(host);
    const Memory memory = site.make_memory(page_bytes, {.local_write = true});
    EXPECT_EQ(error_of(memory.region->change_access({.remote_write = true})),
              ErrorCode::invalid_argument);
    EXPECT_EQ(memory.region->access(), Access{.local_write = true});
    const auto error = error_of(memory.region->change_access(all_rights));
    EXPECT_EQ(error, changes_access ? std::nullopt : std::optional(ErrorCode::unsupported));
    EXPECT_EQ(memory.region->access(), changes_access ? all_rights : Access{.local_write = true});
  });
}

TEST_P(MemoryTest, LivesAsLongAsARegionOfIt) {
  if (!capabilities().reliable_connection) GTEST_SKIP();
  run_pairs(
      {},
      [](Peer& client) {
        client.channel.hear();
        EXPECT_EQ(client.fetch(100, 64), pattern(64));
      },
      [](Peer& server) {
        server.block().write(100, pattern(64));
        server.memory->block.reset();
        server.channel.tell();
      });
}

// -------------------------------------------------------------------------------------------------
// Rights are taken away while the connection lives

CompletionStatus status_after(Peer& client, const WorkRequest& request) {
  client.succeed(request);
  client.channel.tell();
  client.channel.hear();
  return client.execute(request).status;
}

PeerBody when_told(std::function<void(Memory&)> change) {
  return [change = std::move(change)](Peer& server) {
    server.channel.hear();
    change(*server.memory);
    server.channel.tell();
  };
}

TEST_P(MemoryTest, RevokedRegionIsClosedToOthers) {
  if (!capabilities().reliable_connection) GTEST_SKIP();
  run_pairs(
      {},
      [](Peer& client) {
        EXPECT_EQ(status_after(client, client.read(0, 0, 8)),
                  CompletionStatus::remote_access_error);
      },
      when_told([](Memory& memory) { memory.region->revoke(); }));
}

TEST_P(MemoryTest, DestroyedRegionIsClosedToOthers) {
  if (!capabilities().reliable_connection) GTEST_SKIP();
  run_pairs(
      {},
      [](Peer& client) {
        EXPECT_EQ(status_after(client, client.fetch_and_add(0, 0, 1)),
                  CompletionStatus::remote_access_error);
      },
      when_told([](Memory& memory) { memory.region.reset(); }));
}

TEST_P(MemoryTest, ChangedRightsHoldFromThenOn) {
  if (!capabilities().reliable_connection) GTEST_SKIP();
  if (!capabilities().changes_access) GTEST_SKIP();
  run_pairs(
      {},
      [](Peer& client) {
        client.succeed(client.write(0, 0, 8));
        EXPECT_EQ(status_after(client, client.read(0, 0, 8)), CompletionStatus::success);
        EXPECT_EQ(client.execute(client.write(0, 0, 8)).status,
                  CompletionStatus::remote_access_error);
      },
      when_told([](Memory& memory) {
        require(memory.region->change_access({.local_write = true, .remote_read = true}));
      }));
}

TEST_P(MemoryTest, AnotherRegionOfTheBlockIsNotRevoked) {
  if (!capabilities().reliable_connection) GTEST_SKIP();
  run_pairs(
      {},
      [](Peer& client) {
        client.remote_key = static_cast<std::uint32_t>(client.channel.hear());
        EXPECT_EQ(status_after(client, client.read(0, 0, 8)), CompletionStatus::success);
        client.channel.tell();
      },
      [](Peer& server) {
        const auto second = require(server.site->protection_domain->register_memory(
            server.memory->block, 0, page_bytes, all_rights));
        server.channel.tell(second->remote_key());
        server.channel.hear();
        server.memory->region->revoke();
        server.channel.tell();
        server.channel.hear();  // the second region lives until the client has used it
      });
}

TEST_P(MemoryTest, RevokedRegionIsClosedToItsOwner) {
  if (!capabilities().reliable_connection) GTEST_SKIP();
  run_pairs({}, [](Peer& client) {
    client.memory->region->revoke();
    const WorkRequest request = client.write(0, 0, 8);
    EXPECT_EQ(error_of(client.queue_pair->post_send({&request, 1})), ErrorCode::access_denied);
  });
}

}  // namespace
}  // namespace falafel::conformance
