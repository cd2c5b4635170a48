// Memory that outlives its host's process. The tests of a backend add what only it can show: that
// the memory is there after the end of the process, and who can still reach it.
#include <bit>
#include <cstdint>
#include <memory>
#include <string>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

constexpr std::uint64_t kept_bytes = 10'000;
constexpr std::uint16_t service_for_memory = 7;
constexpr std::uint16_t service_for_channel = 8;

class KeptMemoryTest : public ConformanceTest {
 public:
  void SetUp() override {
    if (!capabilities().keeps_memory) GTEST_SKIP();
  }

 protected:
  // Runs a body that gets the name for memory to keep.
  void run_with_name(const std::function<void(Host&, const std::string&)>& body) const {
    run([&](Backend& backend) {
      const std::string name = backend.name_of_kept_memory();
      backend.add_host({.name = "host", .role = Role::server},
                       [body, name](Host& host) { body(host, name); });
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Backend, KeptMemoryTest, testing::ValuesIn(backend_variants()),
                         variant_name);

TEST_P(KeptMemoryTest, OfNoSizeIsRefused) {
  run_with_name([](Host& host, const std::string& name) {
    EXPECT_EQ(error_of(host.keep_memory(name, 0)), ErrorCode::invalid_argument);
    EXPECT_TRUE(require(host.keep_memory(name, kept_bytes)).is_new);
  });
}

TEST_P(KeptMemoryTest, IsNewZeroedAndAlignedToAPageAtFirst) {
  run_with_name([](Host& host, const std::string& name) {
    const KeptMemory kept = require(host.keep_memory(name, kept_bytes));
    EXPECT_TRUE(kept.is_new);
    ASSERT_EQ(kept.block->bytes().size(), kept_bytes);
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(kept.block->bytes().data()) % 4096, 0U);
    EXPECT_EQ(read_bytes(*kept.block, 0, kept_bytes), std::vector<std::byte>(kept_bytes));
  });
}

TEST_P(KeptMemoryTest, HoldsWhatWasThere) {
  run_with_name([](Host& host, const std::string& name) {
    const std::vector<std::byte> data = pattern(1'000);
    {
      const KeptMemory kept = require(host.keep_memory(name, kept_bytes));
      kept.block->write(kept_bytes - data.size(), data);
      kept.block->store(8, 77);
    }
    const KeptMemory again = require(host.keep_memory(name, kept_bytes));
    EXPECT_FALSE(again.is_new);
    EXPECT_EQ(read_bytes(*again.block, kept_bytes - data.size(), data.size()), data);
    EXPECT_EQ(again.block->load(8), 77U);
    EXPECT_EQ(again.block->load(16), 0U);
  });
}

TEST_P(KeptMemoryTest, OfAnotherSizeIsRefusedAndUnchanged) {
  run_with_name([](Host& host, const std::string& name) {
    require(host.keep_memory(name, kept_bytes)).block->store(8, 77);
    for (const std::uint64_t size_bytes : {kept_bytes - 8, kept_bytes + 8, 2 * kept_bytes}) {
      EXPECT_EQ(error_of(host.keep_memory(name, size_bytes)), ErrorCode::invalid_argument);
    }
    EXPECT_EQ(require(host.keep_memory(name, kept_bytes)).block->load(8), 77U);
  });
}

void serve_kept_memory(Host& host, const std::string& name) {
  Site site(host);
  const KeptMemory kept = require(host.keep_memory(name, kept_bytes));
  const auto region =
      require(site.protection_domain->register_memory(kept.block, 0, kept_bytes, all_rights));
  const auto listener = require(site.device.listen(service_for_memory));
  const auto listener_for_channel = require(site.device.listen(service_for_channel));
  kept.block->store(0, 5);
  const Link link = accept_link(site, *listener, {}, to_private_data(region->remote_key()));
  Channel channel(site, accept_link(site, *listener_for_channel));
  channel.hear();
  EXPECT_EQ(kept.block->load(0), 6U);
  EXPECT_EQ(read_bytes(*kept.block, 5'001, 2'000), pattern(2'000));
}

TEST_P(KeptMemoryTest, IsReachedByPeers) {
  if (!capabilities().reliable_connection) GTEST_SKIP();
  run([](Backend& backend) {
    const std::string name = backend.name_of_kept_memory();
    backend.add_host({.name = "server", .role = Role::server},
                     [name](Host& host) { serve_kept_memory(host, name); });
    backend.add_host({.name = "client"}, [](Host& host) {
      Site site(host);
      const Memory local = site.make_memory(4'096);
      Link link = connect_link(site, {.host = "server", .service = service_for_memory});
      Channel channel(site, connect_link(site, {.host = "server", .service = service_for_channel}));
      const auto key = from_private_data<std::uint32_t>(link.private_data);
      local.block->write(0, pattern(2'000));
      EXPECT_EQ(
          link.execute(make_request(Opcode::write, local.local(), 2'000, {key, 5'001})).status,
          CompletionStatus::success);
      WorkRequest add = make_request(Opcode::fetch_and_add, local.local(2'048), 8, {key, 0});
      add.swap_or_add = 1;
      EXPECT_EQ(link.execute(add).status, CompletionStatus::success);
      EXPECT_EQ(local.block->load(2'048), 5U);
      channel.tell();
    });
  });
}

}  // namespace
}  // namespace falafel::conformance
