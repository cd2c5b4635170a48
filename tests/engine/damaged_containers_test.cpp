// Containers that no honest client of this host would have written: longer than its own requests, with
// lengths that lie, or with bytes that do not verify.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "engine/layout/container.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

// A store with one client, whose body may reach into the server's memory.
StoreRun run_store(const StoreOptions& options,
                   const std::function<void(Store&, fabric::Host&, Client&)>& body) {
  fabric::FiberStackPool stacks;
  Store store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) { body(store, host, client); });
  StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  return run;
}

TEST(ForeignContainers, LongerThanARequestAreReadInPieces) {
  StoreOptions options;
  options.simulation.max_message_bytes = 4'096;
  run_store(options, [](Store& store, fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    Bytes value(20'000);
    for (std::size_t index = 0; index < value.size(); ++index) {
      value[index] = static_cast<std::byte>(index * 7 + index / 256);
    }
    ASSERT_EQ(client.set(key, {}).answer, Answer::stored);
    const auto place = find_planted(*store.server(), key);
    ASSERT_TRUE(place);
    store.server()->memory().write(place->container_offset, container_of(key, value));
    EXPECT_EQ(client.get(key).value, value);
    EXPECT_EQ(client.remove(key).answer, Answer::deleted);
  });
}

// A container whose checksums are right and whose lengths are not those of any container in this store:
// its reader must neither take the memory for them nor end.
TEST(ForeignContainers, LongerThanARegionAreNotRead) {
  StoreOptions options;
  // A scan of the region would leave the entry to the table's audit.
  options.server.collection = engine::Collection::walk_table;
  options.server.geometry.region_bytes = 1'024;
  run_store(options, [](Store& store, fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    ASSERT_EQ(client.set(key, {}).answer, Answer::stored);
    const auto place = find_planted(*store.server(), key);
    ASSERT_TRUE(place);
    const Bytes container = container_of(key, Bytes(2'000));
    const Bytes longest(1'024 - engine::container_bytes(key.size(), 0));
    store.server()->memory().write(place->container_offset, container_of(key, longest));
    EXPECT_EQ(client.get(key).value, longest);
    store.server()->memory().write(place->container_offset, container);
    const engine::GetResult result = client.get(key);
    EXPECT_EQ(result.answer, Answer::corrupted);
    EXPECT_EQ(client.set(bytes_of("other key"), bytes_of("value")).answer, Answer::stored);
  });
}

}  // namespace
}  // namespace falafel::engine_test
