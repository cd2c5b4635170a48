// One store on several servers. Each key belongs to one of them, by rendezvous hashing over their
// names, so the servers know nothing of each other.
//
//   auto cluster = falafel::Cluster::open({.servers = {"10.0.0.1", "10.0.0.2"}}).value();
//   cluster->set("greeting", "hello");
//   const auto results = cluster->get_many(keys);
//
// Operations on one key are linearizable, as in a store, as long as all clients have the same list
// of names, or take it from the same etcd. There is no order between operations on keys of
// different servers beyond that of the caller's own calls, and no replication: a server that is
// away takes its keys with it, and only these.
//
// A list in etcd can change while clients use it (docs/library.md): keys move to other servers, and
// operations on these answer `disconnected` meanwhile. So do operations on all keys while etcd does
// not answer for longer than the lease of the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "engine/client/client.h"
#include "engine/client/condition.h"
#include "engine/client/results.h"
#include "engine/placement/placement.h"
#include "falafel/etcd_access.h"
#include "falafel/open_error.h"
#include "falafel/store.h"

namespace falafel {

struct ClusterOptions {
  // The servers' names, in any order; the same in all clients, letter by letter. At least one, and
  // none twice. Or none, if etcd has the list.
  std::vector<std::string> servers{};
  // Endpoints of etcd, such as "10.0.0.9:2379" or "https://etcd.example:2379", the key that has the
  // list, and what etcd asks for.
  std::vector<std::string> etcd{};
  std::string etcd_key = "falafel/servers";
  EtcdAccess etcd_access{};
  // The way to each server; `server` is ignored.
  StoreOptions store{};
};

class Cluster {
 public:
  using KeyAndValue = std::pair<std::string_view, std::string_view>;

  // Connects to all servers. Retries a server that is away (`no_server`, `unreachable` or
  // `refused`) when one of its keys is used. Any other error fails, and so does a list of which no
  // server responds, or an etcd that does not have it.
  static tl::expected<std::unique_ptr<Cluster>, OpenError> open(const ClusterOptions& options);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // These calls wait and may be made from any thread. See Store for their contracts. While the
  // key's server is away, they answer `disconnected`.
  engine::GetResult get(std::string_view key);
  engine::SetResult set(std::string_view key, std::string_view value) { return set(key, value, 0); }
  engine::SetResult set(std::string_view key, std::string_view value,
                        std::uint64_t time_to_live_ns);
  engine::SetResult compare_and_set(std::string_view key, const engine::Condition& condition,
                                    std::string_view value,
                                    std::optional<std::uint64_t> time_to_live_ns);
  engine::DeleteResult remove(std::string_view key);

  // Many operations at once, in no particular order: all servers at the same time, with up to
  // StoreOptions::max_operations_in_flight operations under way at each. Returns one result for
  // each key, in the order of the keys. Each operation is linearizable; all of them together are
  // not one operation. A key that occurs twice in set_many() ends with one of its values. All
  // values of set_many() have the same time to live.
  std::vector<engine::GetResult> get_many(std::span<const std::string_view> keys);
  std::vector<engine::SetResult> set_many(std::span<const KeyAndValue> pairs) {
    return set_many(pairs, 0);
  }
  std::vector<engine::SetResult> set_many(std::span<const KeyAndValue> pairs,
                                          std::uint64_t time_to_live_ns);
  std::vector<engine::DeleteResult> remove_many(std::span<const std::string_view> keys);

  // Calls step(batch, index) for each of the keys, to do something with it at its server: all
  // servers at the same time, on threads of their own or the caller's. A step that returns false
  // has found the connection broken and changed nothing; it is called once more. There is no call
  // for a key whose server is away, or that moves. An exception of a step leaves the call when all
  // threads have ended. A step must not call this cluster: a call for a key of its own server
  // throws std::logic_error, and one for a key of another server may wait for a step there.
  using Step = std::function<bool(engine::Batch&, std::size_t index)>;
  void run_batch(std::span<const std::string_view> keys, const Step& step);

  // Calls `visit` for the keys of all servers, one server after the other; the rest is as in
  // Store::for_each_key. Copies that a change of the list has left behind are not visited.
  // `disconnected` is also the answer if a server is away, while the list changes, and if its lease
  // ends meanwhile.
  tl::expected<void, engine::Answer> for_each_key(
      const std::function<void(std::string_view key, std::span<const std::byte> value,
                               std::uint64_t time_to_live_ns)>& visit);

  // The name of the server that the key belongs to; during a change, before it.
  std::string server_of(std::string_view key) const;

  // The metrics of each server that was ever reached, for to_prometheus(). May be called from any
  // thread.
  std::vector<StoreMetrics> metrics() const;

 private:
  class Member;
  struct Membership;
  class Watch;
  explicit Cluster(StoreOptions options);

  std::shared_ptr<const Membership> membership() const;
  void use(engine::PlacementList list, std::uint64_t usable_until_ns);
  tl::expected<void, OpenError> connect();
  // Calls operation(client) at the key's server.
  template <typename Result, typename Operation>
  Result operate(std::string_view key, const Operation& operation);
  // Calls operation(batch, index) for all keys.
  template <typename Result, typename Operation>
  std::vector<Result> operate_on_many(std::span<const std::string_view> keys,
                                      const Operation& operation);

  const StoreOptions options_;
  mutable std::mutex mutex_;  // protects membership_
  std::shared_ptr<const Membership> membership_;
  std::unique_ptr<Watch> watch_;  // of etcd; ends first
};

}  // namespace falafel
