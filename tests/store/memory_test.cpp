// A process without memory gets the documented answers from the client library, and the store
// remains usable.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "falafel/falafel.h"
#include "tests/store/limited_memory.h"
#include "tests/store/two_servers.h"

namespace falafel::server_program {
namespace {

// Makes the call again and again. The first, second, third ... allocation of its thread fails, once
// alone and once with all later ones. Calls check(status) after each call, with memory. Expects
// that some call has felt the lack.
template <typename Call, typename Check>
void call_without_memory(const Call& call, const Check& check) {
  for (const bool is_lasting : {true, false}) {
    std::int64_t allocations = 0;
    bool was_felt = true;
    for (; was_felt; ++allocations) {
      ASSERT_LT(allocations, 10'000) << "the call never has enough memory";
      const falafel_status status = [&] {
        const Limit limit(allocations, is_lasting);
        return call();
      }();
      was_felt = Limit::was_felt();
      EXPECT_TRUE(status == FALAFEL_OK || (was_felt && status == FALAFEL_OUT_OF_MEMORY))
          << falafel_status_text(status) << " after " << allocations << " allocations"
          << (is_lasting ? "" : ", one failed");
      check(status);
    }
    EXPECT_GT(allocations, 1);
  }
}

void ignore(falafel_status /*status*/) {}

class MemoryTest : public TwoServers {
 protected:
  MemoryTest() {
    falafel_options_set(options_, "directory", directory_.path().c_str());
    falafel_options_set(options_, "reconnect_interval_ns", "0");
    EXPECT_EQ(falafel_open("one", options_, &store_, nullptr, 0), FALAFEL_OK);
  }
  ~MemoryTest() override {
    falafel_close(store_);
    falafel_options_destroy(options_);
  }

  falafel_status set(std::string_view key, std::string_view value) const {
    return falafel_set(store_, key.data(), key.size(), value.data(), value.size());
  }
  falafel_status get(std::string_view key) const {
    void* value = nullptr;
    std::size_t value_bytes = 0;
    const falafel_status status = falafel_get(store_, key.data(), key.size(), &value, &value_bytes);
    std::free(value);
    return status;
  }
  falafel_status remove(std::string_view key) const {
    return falafel_delete(store_, key.data(), key.size());
  }
  std::string value_of(std::string_view key) const {
    void* value = nullptr;
    std::size_t value_bytes = 0;
    falafel_get(store_, key.data(), key.size(), &value, &value_bytes);
    std::string text(static_cast<const char*>(value), value_bytes);
    std::free(value);
    return text;
  }
  void expect_usable() const {
    EXPECT_EQ(set("usable", "value"), FALAFEL_OK);
    EXPECT_EQ(get("usable"), FALAFEL_OK);
    EXPECT_EQ(remove("usable"), FALAFEL_OK);
  }

  // Operations whose value is their key.
  std::vector<falafel_operation> operations(falafel_kind kind) {
    std::vector<falafel_operation> made(keys_.size());
    for (std::size_t index = 0; index < keys_.size(); ++index) {
      made[index].kind = kind;
      made[index].key = keys_[index].data();
      made[index].key_bytes = keys_[index].size();
      if (kind != FALAFEL_SET) continue;
      made[index].value = keys_[index].data();
      made[index].value_bytes = keys_[index].size();
    }
    return made;
  }
  void poll_all(std::span<falafel_operation> submitted) const {
    std::array<falafel_operation*, 64> ended{};
    std::size_t count = 0;
    while (count < submitted.size()) {
      count += falafel_poll(store_, ended.data(), ended.size(), 60'000'000'000);
    }
  }
  static void expect_ok_or_out_of_memory(std::span<const falafel_operation> ended) {
    for (const falafel_operation& operation : ended) {
      const bool is_ok =
          operation.status == FALAFEL_OK ||
          // an attempt without memory has deleted other keys
          (operation.kind == FALAFEL_DELETE && operation.status == FALAFEL_NOT_FOUND);
      EXPECT_TRUE(is_ok || operation.status == FALAFEL_OUT_OF_MEMORY)
          << falafel_status_text(operation.status);
      if (operation.kind == FALAFEL_GET && is_ok) std::free(operation.value);
    }
  }

  std::vector<std::string> keys_ = [] {
    std::vector<std::string> keys;
    for (int key = 0; key < 12; ++key) keys.push_back("key " + std::to_string(key));
    return keys;
  }();
  falafel_options* options_ = falafel_options_create();
  falafel_store* store_ = nullptr;
};

TEST_F(MemoryTest, SetChangesNothingWithoutMemory) {
  for (const std::size_t value_bytes : {std::size_t{1}, large_bytes}) {
    std::string current(value_bytes, '0');
    std::string next(value_bytes, '1');
    ASSERT_EQ(set("key", current), FALAFEL_OK);
    call_without_memory([&] { return set("key", next); },
                        [&](falafel_status status) {
                          if (status == FALAFEL_OK) std::swap(current, next);
                          EXPECT_TRUE(value_of("key") == current);
                        });
  }
  expect_usable();
}

TEST_F(MemoryTest, GetAnswers) {
  for (const std::size_t value_bytes : {std::size_t{1}, large_bytes}) {
    ASSERT_EQ(set("key", std::string(value_bytes, 'x')), FALAFEL_OK);
    call_without_memory([&] { return get("key"); }, ignore);
  }
  expect_usable();
}

TEST_F(MemoryTest, DeleteChangesNothingWithoutMemory) {
  ASSERT_EQ(set("key", "value"), FALAFEL_OK);
  call_without_memory([&] { return remove("key"); },
                      [&](falafel_status status) {
                        const falafel_status expected =
                            status == FALAFEL_OK ? FALAFEL_NOT_FOUND : FALAFEL_OK;
                        EXPECT_EQ(get("key"), expected);
                        if (status == FALAFEL_OK) set("key", "value");
                      });
  expect_usable();
}

TEST_F(MemoryTest, SetsThatFillRegionsAnswer) {
  const std::string large(large_bytes, 'x');
  for (int round = 0; round < 8; ++round) {
    call_without_memory([&] { return set(keys_[static_cast<std::size_t>(round) % 4], large); },
                        ignore);
  }
  expect_usable();
}

TEST_F(MemoryTest, ScanMetricsAndStateAnswer) {
  ASSERT_EQ(set("key", "value"), FALAFEL_OK);
  const auto scan = [&] {
    return falafel_for_each_key(
        store_, [](const void*, size_t, uint64_t, void*) {}, nullptr);
  };
  call_without_memory(scan, ignore);
  const auto metrics = [&] {
    char* text = nullptr;
    const falafel_status status = falafel_metrics(&store_, 1, &text);
    std::free(text);
    return status;
  };
  call_without_memory(metrics, ignore);
  const std::uint64_t incarnation = falafel_server_incarnation(store_);
  {
    const Limit limit(0, true);
    EXPECT_EQ(falafel_is_connected(store_), 0);
    EXPECT_EQ(falafel_server_incarnation(store_), incarnation);
  }
  EXPECT_EQ(falafel_is_connected(store_), 1);
  expect_usable();
}

TEST_F(MemoryTest, OpeningAndClosingAnswer) {
  std::array<char, 256> message{};
  falafel_store* opened = nullptr;
  const auto open = [&] {
    message.fill('?');
    return falafel_open("two", options_, &opened, message.data(), message.size());
  };
  call_without_memory(open, [&](falafel_status status) {
    EXPECT_EQ(status == FALAFEL_OK, std::string_view(message.data()).empty());
    EXPECT_EQ(status == FALAFEL_OK, opened != nullptr);
    const Limit limit(0, true);
    falafel_close(opened);
  });
  expect_usable();
}

TEST_F(MemoryTest, EachOperationOfBatchAnswers) {
  for (const falafel_kind kind : {FALAFEL_SET, FALAFEL_GET, FALAFEL_DELETE}) {
    std::vector<falafel_operation> batch;
    const auto execute = [&] { return falafel_execute(store_, batch.data(), batch.size()); };
    batch = operations(kind);
    call_without_memory(execute, [&](falafel_status status) {
      if (status == FALAFEL_OK) expect_ok_or_out_of_memory(batch);
      batch = operations(kind);
    });
  }
  expect_usable();
}

TEST_F(MemoryTest, ClusterAnswers) {
  const std::array servers{"one", "two"};
  falafel_cluster* cluster = nullptr;
  call_without_memory(
      [&] { return falafel_cluster_open(servers.data(), 2, options_, &cluster, nullptr, 0); },
      [&](falafel_status status) {
        EXPECT_EQ(status == FALAFEL_OK, cluster != nullptr);
        falafel_cluster_close(cluster);
      });
  ASSERT_EQ(falafel_cluster_open(servers.data(), 2, options_, &cluster, nullptr, 0), FALAFEL_OK);
  call_without_memory([&] { return falafel_cluster_set(cluster, "key", 3, "value", 5, 0); },
                      ignore);
  std::vector<falafel_operation> batch = operations(FALAFEL_SET);
  call_without_memory([&] { return falafel_cluster_execute(cluster, batch.data(), batch.size()); },
                      [&](falafel_status status) {
                        if (status == FALAFEL_OK) expect_ok_or_out_of_memory(batch);
                        batch = operations(FALAFEL_SET);
                      });
  call_without_memory([&] { return falafel_cluster_delete(cluster, "key", 3); },
                      [&](falafel_status status) {
                        if (status == FALAFEL_OK) falafel_cluster_set(cluster, "key", 3, "v", 1, 0);
                      });
  falafel_cluster_close(cluster);
}

TEST_F(MemoryTest, SubmittedOperationsEnd) {
  std::vector<falafel_operation> submitted = operations(FALAFEL_SET);
  const LaterThreads thread_of_library;
  for (std::int64_t allocations = 0; allocations < 60; ++allocations) {
    thread_of_library.limit(allocations);
    ASSERT_EQ(falafel_submit(store_, submitted.data(), submitted.size()), FALAFEL_OK);
    poll_all(submitted);
    thread_of_library.lift_limit();
    expect_ok_or_out_of_memory(submitted);
  }
  expect_usable();
}

TEST_F(MemoryTest, SubmitStartsNothingWithoutMemory) {
  std::vector<falafel_operation> submitted = operations(FALAFEL_SET);
  call_without_memory([&] { return falafel_submit(store_, submitted.data(), submitted.size()); },
                      [&](falafel_status status) {
                        falafel_operation* ended = nullptr;
                        if (status != FALAFEL_OK) {
                          EXPECT_EQ(falafel_poll(store_, &ended, 1, 0), 0U);
                        } else {
                          poll_all(submitted);
                        }
                      });
  expect_usable();
}

TEST_F(MemoryTest, ExceptionOfVisitLeavesScan) {
  ASSERT_EQ(set("key", "value"), FALAFEL_OK);
  const auto lack_memory = [](const void*, size_t, uint64_t, void*) { throw std::bad_alloc(); };
  EXPECT_THROW(falafel_for_each_key(store_, lack_memory, nullptr), std::bad_alloc);
  expect_usable();
}

}  // namespace
}  // namespace falafel::server_program
