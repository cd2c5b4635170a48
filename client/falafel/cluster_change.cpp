#include "falafel/cluster_change.h"

#include <sodium/randombytes.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "engine/client/client.h"
#include "engine/placement/incarnation_keys.h"
#include "fabric/realtime/clock.h"
#include "falafel/etcd_directory.h"

namespace falafel {
namespace {

// The store reconnects, also to a server that has restarted.
engine::IncarnationKeys::RunConnected connections_of(std::shared_ptr<Store> store) {
  return [store = std::move(store)](const std::function<void(engine::Client&)>& body) {
    store->run([&](fabric::Host&, engine::Client& client) { body(client); });
  };
}

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
        const std::uint64_t incarnation = (*store)->server_incarnation();
        return std::make_unique<engine::IncarnationKeys>(
            incarnation, connections_of(std::move(*store)), may_change);
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
