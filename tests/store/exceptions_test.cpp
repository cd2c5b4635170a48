// Exceptions of callbacks leave the calls of the client library, and a call that would wait for
// itself throws. The store remains usable.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/client/batch.h"
#include "engine/client/client.h"
#include "fabric/fabric.h"
#include "falafel/cluster.h"
#include "falafel/falafel.h"
#include "falafel/store.h"
#include "tests/store/two_servers.h"

namespace falafel::server_program {
namespace {

using engine::Answer;

struct OfCallback {};

class ExceptionsTest : public TwoServers {
 protected:
  std::unique_ptr<Store> open(const std::string& name) const {
    return Store::open(options(name)).value();
  }
  std::unique_ptr<Store> open_filled() const {
    auto store = open("one");
    for (const std::string_view key : keys_) store->set(key, "value");
    return store;
  }

  static void expect_usable(Store& store) {
    EXPECT_EQ(store.set("usable", "value").answer, Answer::stored);
    EXPECT_EQ(text_of(store.get("usable").value), "value");
    EXPECT_EQ(store.remove("usable").answer, Answer::deleted);
  }

  const std::vector<std::string_view> keys_{"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
                                            "k8", "k9", "ka", "kb", "kc", "kd", "ke", "kf"};
};

TEST_F(ExceptionsTest, OfCallbackLeavesGet) {
  const auto store = open_filled();
  EXPECT_THROW(store->get("k1", [](auto) { throw std::runtime_error("of the callback"); }),
               std::runtime_error);
  EXPECT_THROW(store->get("k1", [](auto) { throw OfCallback(); }), OfCallback);
  EXPECT_THROW(store->get("k1", [](auto) { throw std::bad_alloc(); }), std::bad_alloc);
  expect_usable(*store);
}

TEST_F(ExceptionsTest, OfCallbackLeavesBatch) {
  const auto store = open_filled();
  for (std::size_t failing = 0; failing < keys_.size(); ++failing) {
    const auto fail = [&](std::size_t index, auto) {
      if (index == failing) throw OfCallback();
    };
    EXPECT_THROW(store->get_many(keys_, fail), OfCallback);
  }
  EXPECT_THROW(store->get_many(keys_, [](std::size_t, auto) { throw OfCallback(); }), OfCallback);
  expect_usable(*store);
}

TEST_F(ExceptionsTest, OfCallbackLeavesScan) {
  const auto store = open_filled();
  std::size_t visited = 0;
  const auto fail_at_seventh = [&](auto, auto, auto) {
    if (++visited == 7) throw OfCallback();
  };
  EXPECT_THROW((void)store->for_each_key(fail_at_seventh), OfCallback);
  EXPECT_EQ(visited, 7U);
  expect_usable(*store);
}

TEST_F(ExceptionsTest, OfBodyLeavesRun) {
  const auto store = open("one");
  EXPECT_THROW(store->run([](fabric::Host&, engine::Client&) { throw OfCallback(); }), OfCallback);
  const auto throw_late = [](fabric::Host& host, engine::Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    host.sleep_until(host.now_ns() + 1'000);
    throw OfCallback();
  };
  EXPECT_THROW(store->run(throw_late), OfCallback);
  EXPECT_EQ(store->get("key").answer, Answer::found);
  expect_usable(*store);
}

TEST_F(ExceptionsTest, OfStepLeavesBatchOfCluster) {
  const auto cluster = Cluster::open({.servers = {"one", "two"}, .store = options("")}).value();
  for (std::size_t failing = 0; failing < keys_.size(); ++failing) {
    const auto step = [&](engine::Batch& batch, std::size_t index) {
      batch.get(bytes_of(keys_[index]));
      if (index == failing) throw OfCallback();
      return true;
    };
    EXPECT_THROW(cluster->run_batch(keys_, step), OfCallback);
  }
  EXPECT_EQ(cluster->set("key", "value").answer, Answer::stored);
}

TEST_F(ExceptionsTest, CallThatWouldWaitForItselfThrows) {
  const auto store = open_filled();
  const auto expect_refusals = [&] {
    EXPECT_THROW(store->get("k1"), std::logic_error);
    EXPECT_THROW(store->set("k1", "other"), std::logic_error);
    EXPECT_THROW(store->get_many(keys_), std::logic_error);
    EXPECT_THROW((void)store->allocate_buffer(1), std::logic_error);
    EXPECT_THROW(store->is_connected(), std::logic_error);
    EXPECT_THROW(store->run([](fabric::Host&, engine::Client&) {}), std::logic_error);
    EXPECT_THROW((void)store->for_each_key([](auto, auto, auto) {}), std::logic_error);
    EXPECT_NE(store->server_incarnation(), 0U);
    EXPECT_FALSE(store->is_cache());
    EXPECT_EQ(store->metrics().connections, 1U);
  };
  store->get("k1", [&](auto) { expect_refusals(); });
  ASSERT_TRUE(store->for_each_key([&](auto, auto, auto) { expect_refusals(); }));
  store->run([&](fabric::Host&, engine::Client&) { expect_refusals(); });
  expect_usable(*store);
}

TEST_F(ExceptionsTest, CallOfStepThatWouldWaitForItselfThrows) {
  const auto cluster = Cluster::open({.servers = {"one", "two"}, .store = options("")}).value();
  const auto step = [&](engine::Batch&, std::size_t) {
    EXPECT_THROW(cluster->get("key"), std::logic_error);
    return true;
  };
  cluster->run_batch(std::vector<std::string_view>{"key"}, step);
  EXPECT_EQ(cluster->set("key", "value").answer, Answer::stored);
}

TEST_F(ExceptionsTest, CallbackMayCallAnotherStore) {
  const auto store = open_filled();
  const auto other = open("two");
  ASSERT_TRUE(store->for_each_key([&](std::string_view key, auto value, auto) {
    other->set(key, {reinterpret_cast<const char*>(value.data()), value.size()});
  }));
  EXPECT_EQ(other->get("k7").answer, Answer::found);
}

}  // namespace
}  // namespace falafel::server_program
