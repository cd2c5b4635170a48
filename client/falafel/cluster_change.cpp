#include "falafel/cluster_change.h"

#include <sodium/randombytes.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "engine/client/client.h"
#include "fabric/realtime/clock.h"
#include "falafel/etcd_directory.h"

namespace falafel {
namespace {

using engine::Answer;

// The store reconnects, also to a server that has restarted. Calls then answer `disconnected`.
class StoreKeys final : public engine::ServerKeys {
 public:
  StoreKeys(std::unique_ptr<Store> store, engine::MayChange may_change)
      : store_(std::move(store)),
        incarnation_(store_->server_incarnation()),
        may_change_(std::move(may_change)) {}

  tl::expected<void, Answer> list(Contents& contents) override {
    tl::expected<void, Answer> done = tl::unexpected(Answer::disconnected);
    run([&](engine::Client& client) {
      done = client.for_each_key(
          [&](const engine::KeyAndValue& pair) {
            contents.keys.push_back({{pair.key.begin(), pair.key.end()}, pair.time_to_live_ns});
          },
          [&](const engine::DamagedContainer& damaged) { contents.damaged.push_back(damaged); });
    });
    if (!done && done.error() == Answer::corrupted) return {};
    return done;
  }
  engine::GetResult get(std::span<const std::byte> key) override {
    return operate<engine::GetResult>([&](engine::Client& client) { return client.get(key); });
  }
  engine::SetResult set(std::span<const std::byte> key, std::span<const std::byte> value,
                        std::uint64_t time_to_live_ns) override {
    return change<engine::SetResult>(
        [&](engine::Client& client) { return client.set(key, value, time_to_live_ns); });
  }
  engine::DeleteResult remove(std::span<const std::byte> key) override {
    return change<engine::DeleteResult>([&](engine::Client& client) { return client.remove(key); });
  }
  engine::DeleteResult drop(const engine::DamagedContainer& damaged) override {
    return change<engine::DeleteResult>(
        [&](engine::Client& client) { return client.drop_damaged(damaged); });
  }
  tl::expected<void, Answer> wait_for_end_of_operations(std::uint64_t timeout_ns) override {
    tl::expected<void, Answer> ended = tl::unexpected(Answer::disconnected);
    run([&](engine::Client& client) { ended = client.wait_for_end_of_operations(timeout_ns); });
    return ended;
  }
  bool is_same_run() override { return get(engine::any_key).answer != Answer::disconnected; }

 private:
  void run(const std::function<void(engine::Client&)>& body) {
    store_->run([&](fabric::Host&, engine::Client& client) {
      if (client.server_incarnation() == incarnation_) body(client);
    });
  }
  // Tries again what found the connection broken and changed nothing.
  template <typename Result>
  Result operate(const std::function<Result(engine::Client&)>& operation) {
    Result result;
    for (int attempt = 0; attempt < 2 && result.answer == Answer::disconnected; ++attempt) {
      run([&](engine::Client& client) { result = operation(client); });
    }
    return result;
  }

  // Nothing else runs between the question and the start of the operation, so whoever asks the
  // server for the end of operations later learns of it.
  template <typename Result>
  Result change(const std::function<Result(engine::Client&)>& operation) {
    return operate<Result>(
        [&](engine::Client& client) { return may_change_() ? operation(client) : Result(); });
  }

  std::unique_ptr<Store> store_;
  const std::uint64_t incarnation_;
  const engine::MayChange may_change_;
};

std::uint64_t random_number() {
  return std::uint64_t{randombytes_random()} << 32U | randombytes_random() | 1U;  // not 0
}

}  // namespace

tl::expected<engine::ChangeReport, std::string> change_cluster(const ClusterChange& change) {
  auto etcd = Etcd::of_endpoints(change.etcd, change.etcd_access);
  if (!etcd) return tl::unexpected(etcd.error());
  EtcdDirectory directory(std::move(*etcd), change.etcd_key);
  engine::ChangeTools tools{
      .directory = directory,
      .reach = [&](const std::string& server,
                   const engine::MayChange& may_change) -> engine::ReachedKeys {
        StoreOptions options = change.store;
        options.server = server;
        auto store = Store::open(options);
        if (!store) return tl::unexpected(store.error().detail);
        return std::make_unique<StoreKeys>(std::move(*store), may_change);
      },
      // It goes on while the machine is suspended.
      .now_ns = [] { return fabric::read_clock_ns(CLOCK_BOOTTIME); },
      .wait =
          [](std::uint64_t duration_ns) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(duration_ns));
          },
      .times = change.times,
      .own_number = random_number(),
      .may_delete_strays = change.may_delete_strays,
      .drops_damaged = change.drops_damaged};
  return engine::change_placement(tools, change.servers, change.lost);
}

}  // namespace falafel
