// Changes that depend on the value, by applications and by threads that count together.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/client/condition.h"
#include "falafel/store.h"
#include "tests/store/server_thread.h"
#include "tools/benchmarks/store/parties.h"

namespace falafel::server_program {
namespace {

using engine::Answer;
using engine::Condition;

class CompareAndSetTest : public testing::Test {
 protected:
  std::filesystem::path directory() const { return directory_.path(); }

  std::unique_ptr<Store> open() const {
    StoreOptions options;
    options.fabric.directory = directory();
    auto store = Store::open(options);
    EXPECT_TRUE(store.has_value()) << store.error().detail;
    return std::move(*store);
  }

 private:
  store_benchmark::TemporaryDirectory directory_;
};

TEST_F(CompareAndSetTest, StoresIfTheValueIsTheExpectedOne) {
  const ServerThread server(directory(), cache_options());
  const auto store = open();
  constexpr std::uint64_t hour_ns = 3'600'000'000'000;
  EXPECT_EQ(store->compare_and_set("key", Condition::absent(), "1", hour_ns).answer,
            Answer::stored);
  EXPECT_EQ(store->compare_and_set("key", Condition::absent(), "2", 0).answer, Answer::differs);
  const std::uint64_t expires_ns = store->get("key").expires_ns;
  EXPECT_GT(expires_ns, 0U);
  const Condition is_one = Condition::equals(bytes_of("1"));
  EXPECT_EQ(store->compare_and_set("key", is_one, "2", std::nullopt).answer, Answer::stored);
  EXPECT_EQ(store->compare_and_set("key", is_one, "3", std::nullopt).answer, Answer::differs);
  const auto found = store->get("key");
  EXPECT_EQ(text_of(found.value), "2");
  EXPECT_EQ(found.expires_ns, expires_ns);
}

// Each thread counts as often as the others, with a store of its own.
TEST_F(CompareAndSetTest, LosesNoIncrement) {
  const ServerThread server(directory());
  constexpr int threads = 3;
  constexpr int increments = 300;
  const auto count = [this] {
    const auto store = open();
    for (int step = 0; step < increments;) {
      const auto found = store->get("counter");
      const int number =
          found.answer == Answer::found ? std::stoi(std::string(text_of(found.value))) : 0;
      const Condition condition =
          found.answer == Answer::found ? Condition::equals(found.value) : Condition::absent();
      const auto answer =
          store->compare_and_set("counter", condition, std::to_string(number + 1), std::nullopt)
              .answer;
      if (answer == Answer::stored) ++step;
    }
  };
  {
    std::vector<std::jthread> counting;
    for (int thread = 0; thread < threads; ++thread) counting.emplace_back(count);
  }
  EXPECT_EQ(text_of(open()->get("counter").value), std::to_string(threads * increments));
}

}  // namespace
}  // namespace falafel::server_program
