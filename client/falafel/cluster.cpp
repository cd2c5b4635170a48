// A member is a server and the store that reaches it, once it could be reached. A call with many
// keys runs a batch of the client of each member that has any of them, on a thread for each.
//
// A list of servers and its members are a membership, which does not change. If the list comes
// from etcd, a thread watches it there, extends the lease of the membership, and replaces it. An
// operation chooses its server by the membership that it finds, and checks the lease of that one in
// its turn at the server's store, because it may wait long for its turn.
#include "falafel/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "engine/client/client.h"
#include "fabric/realtime/clock.h"
#include "falafel/etcd_directory.h"

namespace falafel {
namespace {

using Placement = engine::Placement;
using PlacementList = engine::PlacementList;

constexpr std::uint64_t without_end_ns = std::numeric_limits<std::uint64_t>::max();

// Leases end also while the machine is suspended.
std::uint64_t lease_clock_ns() { return fabric::read_clock_ns(CLOCK_BOOTTIME); }

bool is_away(OpenProblem problem) {
  return problem == OpenProblem::no_server || problem == OpenProblem::unreachable ||
         problem == OpenProblem::refused;
}

}  // namespace

class Cluster::Member {
 public:
  explicit Member(StoreOptions options) : options_(std::move(options)) {}

  const std::string& name() const { return options_.server; }

  // Requires that the store has not been opened yet.
  tl::expected<void, OpenError> open() {
    auto store = Store::open(options_);
    if (!store) return tl::unexpected(store.error());
    store_ = std::move(*store);
    return {};
  }

  // Null while the server has never been reached. Afterwards the store itself reconnects.
  Store* store() {
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (store_ != nullptr || now < next_attempt_) return store_.get();
    (void)open();  // the caller learns of the failure by the null pointer
    next_attempt_ =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(options_.reconnect_interval_ns);
    return store_.get();
  }

  std::optional<StoreMetrics> metrics() {
    const std::scoped_lock lock(mutex_);
    if (store_ == nullptr) return std::nullopt;
    return store_->metrics();
  }

  // Calls body(client), or nothing if the server is away.
  template <typename Body>
  void run(const Body& body) {
    Store* const reached = store();
    if (reached != nullptr)
      reached->run([&](fabric::Host&, engine::Client& client) { body(client); });
  }

 private:
  const StoreOptions options_;
  std::mutex mutex_;  // protects what follows
  std::unique_ptr<Store> store_;
  std::chrono::steady_clock::time_point next_attempt_;
};

struct Cluster::Membership {
  Membership(PlacementList list, std::uint64_t usable_until)
      : placement(std::move(list)), usable_until_ns(usable_until) {}

  bool is_usable() const { return lease_clock_ns() < usable_until_ns; }

  Placement placement;
  std::vector<std::shared_ptr<Member>> members;  // in the order of the list
  mutable std::atomic<std::uint64_t> usable_until_ns;
};

// The list

Cluster::Cluster(StoreOptions options) : options_(std::move(options)) {}

Cluster::~Cluster() = default;

std::shared_ptr<const Cluster::Membership> Cluster::membership() const {
  const std::scoped_lock lock(mutex_);
  return membership_;
}

// Only the thread that opens the cluster or watches the list calls this.
void Cluster::use(PlacementList list, std::uint64_t usable_until_ns) {
  const auto before = membership();
  if (before != nullptr && before->placement.list() == list) {
    before->usable_until_ns = usable_until_ns;
    return;
  }
  auto after = std::make_shared<Membership>(std::move(list), usable_until_ns);
  for (const std::string& server : after->placement.list().servers) {
    std::shared_ptr<Member> member;
    if (before != nullptr) {
      const auto known =
          std::ranges::find(before->members, server, [](const auto& one) { return one->name(); });
      if (known != before->members.end()) member = *known;
    }
    if (member == nullptr) {
      StoreOptions options = options_;
      options.server = server;
      member = std::make_shared<Member>(std::move(options));
    }
    after->members.push_back(std::move(member));
  }
  const std::scoped_lock lock(mutex_);
  membership_ = std::move(after);
}

// Takes the list from etcd, again and again.
class Cluster::Watch {
 public:
  Watch(Cluster& cluster, EtcdDirectory directory)
      : cluster_(cluster), directory_(std::move(directory)) {}

  // Explains why there is no list to be had.
  tl::expected<void, std::string> look() {
    const std::uint64_t asked_ns = lease_clock_ns();
    auto entry = directory_.read();
    if (!entry) return tl::unexpected(entry.error());
    if (entry->revision == 0) {
      return tl::unexpected(
          std::string("etcd has no list of servers under this key; make one with falafel members"));
    }
    revision_ = entry->revision;
    lease_ns_ = entry->list.times.lease_ns;
    cluster_.use(std::move(entry->list), asked_ns + lease_ns_);
    return {};
  }

  void start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

 private:
  void run(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds pause(100);
    std::mutex mutex;
    std::condition_variable_any stopped;
    while (!stop.stop_requested()) {
      try {
        if (look()) {
          directory_.wait_for_change(revision_, std::chrono::nanoseconds(lease_ns_ / 4), stop);
        }
      } catch (const std::bad_alloc&) {
        // Looks again.
      }
      // Also if etcd answers at once.
      std::unique_lock lock(mutex);
      stopped.wait_for(lock, stop, pause, [] { return false; });
    }
  }

  Cluster& cluster_;
  EtcdDirectory directory_;
  std::uint64_t revision_ = 0;
  std::uint64_t lease_ns_ = 0;
  std::jthread thread_;  // ends first
};

// Opening

tl::expected<std::unique_ptr<Cluster>, OpenError> Cluster::open(const ClusterOptions& options) {
  const auto invalid = [](std::string detail) {
    return tl::unexpected(OpenError{OpenProblem::invalid_options, std::move(detail)});
  };
  std::unique_ptr<Cluster> cluster(new Cluster(options.store));
  if (options.etcd.empty()) {
    if (std::string problem = engine::problem_of(options.servers); !problem.empty()) {
      return invalid(std::move(problem));
    }
    cluster->use({.servers = options.servers}, without_end_ns);
  } else {
    if (!options.servers.empty()) return invalid("name servers or etcd, not both");
    auto etcd = Etcd::of_endpoints(options.etcd, options.etcd_access);
    if (!etcd) return invalid(etcd.error());
    cluster->watch_ =
        std::make_unique<Watch>(*cluster, EtcdDirectory(std::move(*etcd), options.etcd_key));
    if (const auto looked = cluster->watch_->look(); !looked) {
      return tl::unexpected(OpenError{OpenProblem::unreachable, looked.error()});
    }
  }
  if (auto connected = cluster->connect(); !connected) return tl::unexpected(connected.error());
  if (cluster->watch_ != nullptr) cluster->watch_->start();
  return cluster;
}

tl::expected<void, OpenError> Cluster::connect() {
  bool is_any_reached = false;
  OpenError last_error{};
  const auto& members = membership()->members;
  for (const auto& member : members) {
    const auto opened = member->open();
    is_any_reached = is_any_reached || opened.has_value();
    if (opened) continue;
    last_error = opened.error();
    if (!is_away(last_error.problem)) return tl::unexpected(last_error);
  }
  if (is_any_reached) return {};
  if (members.size() > 1) {
    last_error.detail = fmt::format("none of {} servers can be reached; of the last: {}",
                                    members.size(), last_error.detail);
  }
  return tl::unexpected(last_error);
}

std::string Cluster::server_of(std::string_view key) const {
  return membership()->placement.current_server_of(bytes_of(key));
}

std::vector<StoreMetrics> Cluster::metrics() const {
  std::vector<StoreMetrics> all;
  for (const auto& member : membership()->members) {
    if (auto metrics = member->metrics()) all.push_back(std::move(*metrics));
  }
  return all;
}

// One key

template <typename Result, typename Operation>
Result Cluster::operate(std::string_view key, const Operation& operation) {
  Result result;
  const auto used = membership();
  const auto server = used->placement.server_of(bytes_of(key));
  if (!server) return result;
  const auto attempt = [&] {
    used->members[*server]->run([&](engine::Client& client) {
      if (used->is_usable()) result = operation(client);
    });
  };
  attempt();
  // The operation found the connection broken and changed nothing, so it is tried again.
  if (result.answer == engine::Answer::disconnected) attempt();
  return result;
}

engine::GetResult Cluster::get(std::string_view key) {
  return operate<engine::GetResult>(
      key, [&](engine::Client& client) { return client.get(bytes_of(key)); });
}

engine::SetResult Cluster::set(std::string_view key, std::string_view value,
                               std::uint64_t time_to_live_ns) {
  return operate<engine::SetResult>(key, [&](engine::Client& client) {
    return client.set(bytes_of(key), bytes_of(value), time_to_live_ns);
  });
}

engine::SetResult Cluster::compare_and_set(std::string_view key, const engine::Condition& condition,
                                           std::string_view value,
                                           std::optional<std::uint64_t> time_to_live_ns) {
  return operate<engine::SetResult>(key, [&](engine::Client& client) {
    return client.compare_and_set(bytes_of(key), condition, bytes_of(value), time_to_live_ns);
  });
}

engine::DeleteResult Cluster::remove(std::string_view key) {
  return operate<engine::DeleteResult>(
      key, [&](engine::Client& client) { return client.remove(bytes_of(key)); });
}

// All keys

// A change announces the next list, and moves and deletes keys only when the leases of the list
// before have ended. So all keys were where this list has them if its lease holds after the last
// READ, and the announced list is the only one under which they may be elsewhere.
tl::expected<void, engine::Answer> Cluster::for_each_key(
    const std::function<void(std::string_view, std::span<const std::byte>, std::uint64_t)>& visit) {
  const auto used = membership();
  const PlacementList& list = used->placement.list();
  if (list.is_changing()) return tl::unexpected(engine::Answer::disconnected);
  tl::expected<void, engine::Answer> all;
  for (std::size_t server = 0; server < used->members.size(); ++server) {
    Store* const store = used->members[server]->store();
    if (store == nullptr) return tl::unexpected(engine::Answer::disconnected);
    const auto visited = store->for_each_key(
        [&](std::string_view key, std::span<const std::byte> value, std::uint64_t live_ns) {
          if (used->placement.server_of(bytes_of(key)) == server) visit(key, value, live_ns);
        });
    if (!visited) all = visited;
    if (!visited && visited.error() != engine::Answer::corrupted) return all;
  }
  if (!used->is_usable()) return tl::unexpected(engine::Answer::disconnected);
  return all;
}

// Many keys

void Cluster::run_batch(std::span<const std::string_view> keys, const Step& step) {
  constexpr std::size_t is_done = std::numeric_limits<std::size_t>::max();
  const auto used = membership();
  std::vector<std::vector<std::size_t>> indices_of(used->members.size());
  for (std::size_t index = 0; index < keys.size(); ++index) {
    const auto server = used->placement.server_of(bytes_of(keys[index]));
    if (server) indices_of[*server].push_back(index);
  }
  const auto attempt = [&](std::size_t member) {
    std::vector<std::size_t>& indices = indices_of[member];
    used->members[member]->run([&](engine::Client& client) {
      client.run_batch(indices.size(), [&](engine::Batch& batch, std::size_t place) {
        // A lease may end while many keys are on their way.
        if (used->is_usable() && step(batch, indices[place])) indices[place] = is_done;
      });
    });
    std::erase(indices, is_done);
  };
  std::vector<std::exception_ptr> thrown(indices_of.size());
  const auto attempt_twice = [&](std::size_t member) {
    try {
      attempt(member);
      if (!indices_of[member].empty()) attempt(member);
    } catch (...) {  // it must not end the thread
      thrown[member] = std::current_exception();
    }
  };
  std::vector<std::jthread> threads;
  threads.reserve(indices_of.size());
  std::optional<std::size_t> own;
  for (std::size_t member = 0; member < indices_of.size(); ++member) {
    if (indices_of[member].empty()) continue;
    if (own) threads.emplace_back(attempt_twice, *own);
    own = member;
  }
  if (own) attempt_twice(*own);
  threads.clear();  // waits for them
  for (const std::exception_ptr& exception : thrown) {
    if (exception) std::rethrow_exception(exception);
  }
}

template <typename Result, typename Operation>
std::vector<Result> Cluster::operate_on_many(std::span<const std::string_view> keys,
                                             const Operation& operation) {
  std::vector<Result> results(keys.size());
  run_batch(keys, [&](engine::Batch& batch, std::size_t index) {
    results[index] = operation(batch, index);
    return results[index].answer != engine::Answer::disconnected;
  });
  return results;
}

std::vector<engine::GetResult> Cluster::get_many(std::span<const std::string_view> keys) {
  return operate_on_many<engine::GetResult>(keys, [keys](engine::Batch& batch, std::size_t index) {
    return batch.get(bytes_of(keys[index]));
  });
}

std::vector<engine::SetResult> Cluster::set_many(std::span<const KeyAndValue> pairs,
                                                 std::uint64_t time_to_live_ns) {
  std::vector<std::string_view> keys;
  keys.reserve(pairs.size());
  for (const KeyAndValue& pair : pairs) keys.push_back(pair.first);
  return operate_on_many<engine::SetResult>(keys, [&](engine::Batch& batch, std::size_t index) {
    const auto& [key, value] = pairs[index];
    return batch.set(bytes_of(key), bytes_of(value), time_to_live_ns);
  });
}

std::vector<engine::DeleteResult> Cluster::remove_many(std::span<const std::string_view> keys) {
  return operate_on_many<engine::DeleteResult>(keys,
                                               [keys](engine::Batch& batch, std::size_t index) {
                                                 return batch.remove(bytes_of(keys[index]));
                                               });
}

}  // namespace falafel
