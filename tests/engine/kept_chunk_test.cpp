// A server starts over kept memory if it is that of the same store, and refuses all other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/layout/superblock.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using fabric::ErrorCode;

constexpr engine::Geometry kept_geometry{
    .table_entries = 8, .region_bytes = 4'096, .region_count = 4, .mature_bytes = 16'384};

engine::ServerOptions kept_options() {
  return {.geometry = kept_geometry, .hash_key = engine::HashKey{}, .kept_memory = "store"};
}

// Runs the body on a host whose memory can be kept.
void run_on_server(const std::function<void(fabric::Host&)>& body) {
  fabric::FiberStackPool stacks;
  const auto strategy = sim::make_strategy({}, 1);
  sim::Simulation simulation({}, *strategy, stacks);
  simulation.add_host({.name = "server", .role = sim::Role::server}, body);
  const sim::RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
}

fabric::KeptMemory kept_store(fabric::Host& host) {
  return host.keep_memory("store", kept_geometry.chunk_bytes()).value();
}

Bytes contents(fabric::Host& host) {
  const fabric::KeptMemory kept = kept_store(host);
  const auto bytes = kept.block->bytes();
  return {bytes.begin(), bytes.end()};
}

engine::Superblock superblock_of(const Bytes& chunk) {
  return engine::parse_superblock(chunk, kept_geometry.chunk_bytes()).value();
}

// Starts a server and ends it. Its fibers have ended when this returns.
std::optional<fabric::Error> start(fabric::Host& host, const engine::ServerOptions& options) {
  auto server = Server::start(host, options);
  if (!server) return server.error();
  server->reset();
  host.sleep_until(host.now_ns() + millisecond_ns);
  return std::nullopt;
}

TEST(KeptChunk, StaysTheSameStore) {
  run_on_server([](fabric::Host& host) {
    engine::ServerOptions options = kept_options();
    options.hash_key.reset();
    ASSERT_FALSE(start(host, options));
    const engine::Superblock first = superblock_of(contents(host));
    ASSERT_FALSE(start(host, kept_options()));
    const engine::Superblock second = superblock_of(contents(host));
    EXPECT_EQ(first.incarnation, second.incarnation);
    EXPECT_EQ(first.hash_key, second.hash_key);
  });
}

TEST(KeptChunk, IsCreatedAgainIfItsCreationWasInterrupted) {
  run_on_server([](fabric::Host& host) {
    ASSERT_FALSE(start(host, kept_options()));
    kept_store(host).block->store(0, 0);
    const engine::ServerOptions options{.geometry = kept_geometry, .kept_memory = "store"};
    ASSERT_FALSE(start(host, options));
    EXPECT_NE(superblock_of(contents(host)).hash_key, engine::HashKey{});
  });
}

struct Refusal {
  std::string name;
  std::function<void(engine::Geometry&)> change;
  std::string message;
};

void PrintTo(const Refusal& refusal, std::ostream* stream) { *stream << refusal.name; }

class KeptChunkOfAnotherStore : public testing::TestWithParam<Refusal> {};

TEST_P(KeptChunkOfAnotherStore, IsRefusedAndNotTouched) {
  run_on_server([](fabric::Host& host) {
    ASSERT_FALSE(start(host, kept_options()));
    const Bytes before = contents(host);
    engine::ServerOptions options = kept_options();
    GetParam().change(options.geometry);
    const auto error = start(host, options);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::invalid_argument);
    EXPECT_NE(error->detail.find(GetParam().message), std::string::npos) << error->detail;
    EXPECT_EQ(contents(host), before);
    EXPECT_FALSE(start(host, kept_options())) << "the right server starts";
  });
}

INSTANTIATE_TEST_SUITE_P(
    Fields, KeptChunkOfAnotherStore,
    testing::Values(
        Refusal{"table_entries", [](engine::Geometry& geometry) { geometry.table_entries = 7; },
                "table_entries is 8 there, but 7 in the options"},
        Refusal{"tag_bits", [](engine::Geometry& geometry) { geometry.tag_bits = 20; },
                "tag_bits is 30 there, but 20 in the options"},
        Refusal{"fingerprint_bits",
                [](engine::Geometry& geometry) { geometry.fingerprint_bits = 4; },
                "fingerprint_bits is 0 there, but 4 in the options"},
        Refusal{"values_expire", [](engine::Geometry& geometry) { geometry.values_expire = true; },
                "values_expire is 0 there, but 1 in the options"},
        Refusal{"chunk_bytes", [](engine::Geometry& geometry) { geometry.mature_bytes *= 2; },
                "kept_memory: size_bytes"}),
    [](const auto& refusal) { return refusal.param.name; });

TEST(KeptChunk, IsRefusedIfItsSuperblockIsDamaged) {
  run_on_server([](fabric::Host& host) {
    ASSERT_FALSE(start(host, kept_options()));
    {
      const fabric::KeptMemory kept = kept_store(host);
      kept.block->store(88, kept.block->load(88) + 1);  // the key of the hash
    }
    const Bytes before = contents(host);
    const auto error = start(host, kept_options());
    ASSERT_TRUE(error);
    EXPECT_NE(error->detail.find("the checksum is wrong"), std::string::npos) << error->detail;
    EXPECT_EQ(contents(host), before);
    kept_store(host).block->store(0, 1);
    const auto foreign = start(host, kept_options());
    ASSERT_TRUE(foreign);
    EXPECT_NE(foreign->detail.find("the magic number"), std::string::npos) << foreign->detail;
  });
}

TEST(KeptChunk, NeedsTheCleanupByShift) {
  run_on_server([](fabric::Host& host) {
    engine::ServerOptions options = kept_options();
    options.safeguards = engine::Safeguards::published();
    const auto error = start(host, options);
    ASSERT_TRUE(error);
    EXPECT_NE(error->detail.find("bounded-walks"), std::string::npos) << error->detail;
    EXPECT_TRUE(kept_store(host).is_new);
  });
}

}  // namespace
}  // namespace falafel::engine_test
