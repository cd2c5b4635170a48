// Clients of a host with several devices: each uses the device that its options name and no other,
// and clients of different devices share a store. The host of a client counts the uses of each
// device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::Condition;

constexpr std::size_t device_count = 2;

// Passes everything on to the real host.
class CountingHost final : public fabric::Host {
 public:
  explicit CountingHost(fabric::Host& real) : real_(real), uses_(real.device_count()) {}
  std::uint64_t uses(std::size_t device) const { return uses_[device]; }

  fabric::Device& device(std::size_t index) override {
    ++uses_[index];
    return real_.device(index);
  }
  const std::string& name() const override { return real_.name(); }
  std::size_t device_count() const override { return real_.device_count(); }
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> allocate_memory(
      std::uint64_t size_bytes) override {
    return real_.allocate_memory(size_bytes);
  }
  fabric::Result<fabric::KeptMemory> keep_memory(const std::string& name,
                                                 std::uint64_t size_bytes) override {
    return real_.keep_memory(name, size_bytes);
  }
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> reserve_memory(
      std::uint64_t size_bytes) override {
    return real_.reserve_memory(size_bytes);
  }
  fabric::Result<fabric::KeptMemory> keep_reserved_memory(const std::string& name,
                                                          std::uint64_t size_bytes) override {
    return real_.keep_reserved_memory(name, size_bytes);
  }
  fabric::FiberId spawn(const fabric::FiberOptions& options, std::function<void()> body) override {
    return real_.spawn(options, std::move(body));
  }
  void cancel(fabric::FiberId fiber) override { real_.cancel(fiber); }
  bool is_cancelled() const override { return real_.is_cancelled(); }
  void set_cooperative(bool is_cooperative) override { real_.set_cooperative(is_cooperative); }
  void join(fabric::FiberId fiber) override { real_.join(fiber); }
  std::unique_ptr<fabric::Event> create_event() override { return real_.create_event(); }
  std::uint64_t now_ns() override { return real_.now_ns(); }
  std::uint64_t wall_clock_ns() override { return real_.wall_clock_ns(); }
  void sleep_until(std::uint64_t deadline_ns) override { real_.sleep_until(deadline_ns); }
  void yield() override { real_.yield(); }
  void preemption_point() override { real_.preemption_point(); }
  std::uint64_t random(std::uint64_t bound) override { return real_.random(bound); }
  void count(const fabric::Probe& probe) override { real_.count(probe); }
  void spend(fabric::Work work, std::uint64_t bytes) override { real_.spend(work, bytes); }

 private:
  fabric::Host& real_;
  std::vector<std::uint64_t> uses_;
};

StoreOptions options_of_devices() {
  StoreOptions options;
  options.client_device_count = device_count;
  options.server.geometry.region_bytes = 1 << 14;
  options.server.geometry.mature_bytes = 1 << 16;
  return options;
}

std::unique_ptr<Client> connect_by_device(const TestStore& store, fabric::Host& host,
                                          std::size_t device) {
  auto client = Client::connect(host, store.address(), {.device_index = device});
  EXPECT_TRUE(client.has_value()) << client.error().detail;
  return std::move(*client);
}

void use_all_operations(Client& client) {
  const Bytes key = bytes_of("key");
  const Bytes value(10'000, std::byte{7});
  EXPECT_EQ(client.set(key, value).answer, Answer::stored);
  EXPECT_EQ(client.get(key).value, value);
  const auto buffer = client.allocate_buffer(engine::ValueBuffer::bytes_for(3, value.size()));
  ASSERT_TRUE(buffer.has_value()) << buffer.error().detail;
  EXPECT_TRUE(client.get(key, *buffer).place.has_value());
  EXPECT_EQ(client.compare_and_set(key, Condition::equals(value), value, std::nullopt).answer,
            Answer::stored);
  std::uint64_t visits = 0;
  EXPECT_TRUE(client.for_each_key([&](const engine::KeyAndValue&) { ++visits; }));
  EXPECT_EQ(visits, 1);
  EXPECT_EQ(client.remove(key).answer, Answer::deleted);
}

TEST(Devices, AClientUsesNoOtherThanItsOwn) {
  for (std::size_t own = 0; own < device_count; ++own) {
    fabric::FiberStackPool stacks;
    TestStore store(options_of_devices(), stacks);
    store.add_host("client", [&](fabric::Host& real) {
      CountingHost host(real);
      use_all_operations(*connect_by_device(store, host, own));
      EXPECT_GT(host.uses(own), 0);
      EXPECT_EQ(host.uses(1 - own), 0) << own;
    });
    run_without_problems(store);
  }
}

TEST(Devices, OutOfRangeAreNamed) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_devices(), stacks);
  store.add_host("client", [&](fabric::Host& host) {
    const auto client = Client::connect(host, store.address(), {.device_index = device_count});
    ASSERT_FALSE(client.has_value());
    EXPECT_EQ(client.error().code, fabric::ErrorCode::invalid_argument);
    EXPECT_EQ(client.error().detail, "device_index is 2 but must be from 0 to 1");
  });
  run_without_problems(store);
}

// A client of each device increments the same numbers; none of the increments is lost.
TEST(Devices, OfOneHostShareAStore) {
  constexpr int increments = 20;
  constexpr int keys = 3;
  for_each_seed(20, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = options_of_devices();
    options.seed = seed;
    TestStore store(options, stacks);
    const auto key_of = [](int number) { return bytes_of(fmt::format("key {}", number % keys)); };
    const auto increment = [](Client& client, const Bytes& key) {
      for (;;) {
        const Bytes known = client.get(key).value;
        Bytes next = known;
        next.push_back(std::byte{1});
        const auto answer =
            client.compare_and_set(key, Condition::equals(known), next, std::nullopt).answer;
        if (answer == Answer::stored) return;
        ASSERT_EQ(answer, Answer::differs);
      }
    };
    store.add_host("client", [&](fabric::Host& host) {
      std::array<std::unique_ptr<Client>, device_count> clients;
      for (std::size_t device = 0; device < device_count; ++device) {
        clients[device] = connect_by_device(store, host, device);
      }
      for (int key = 0; key < keys; ++key) {
        EXPECT_EQ(clients[0]->set(key_of(key), {}).answer, Answer::stored);
      }
      std::vector<fabric::FiberId> fibers;
      for (const auto& client : clients) {
        fibers.push_back(host.spawn({}, [&] {
          for (int number = 0; number < increments; ++number) increment(*client, key_of(number));
        }));
      }
      for (const fabric::FiberId fiber : fibers) host.join(fiber);
      for (const auto& client : clients) {
        std::size_t total = 0;
        for (int key = 0; key < keys; ++key) total += client->get(key_of(key)).value.size();
        EXPECT_EQ(total, device_count * increments);
      }
    });
    run_without_problems(store);
  });
}

}  // namespace
}  // namespace falafel::engine_test
