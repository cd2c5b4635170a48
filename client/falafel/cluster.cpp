// A member is a server and the store that reaches it, once it could be reached. A call with many
// keys runs one thread for each member that has any of them, and on it a batch of the member's
// client.
#include "falafel/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/client/client.h"

namespace falafel {
namespace {

bool is_away(OpenProblem problem) {
  return problem == OpenProblem::no_server || problem == OpenProblem::unreachable ||
         problem == OpenProblem::refused;
}

std::string_view key_itself(std::string_view key) { return key; }

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

  // Calls operation(batch, index) for all indices, in one batch, or not at all if the server is
  // away.
  template <typename Operation>
  void operate(const std::vector<std::size_t>& indices, const Operation& operation) {
    Store* const reached = store();
    if (reached == nullptr) return;
    reached->run([&](fabric::Host&, engine::Client& client) {
      client.run_batch(indices.size(), [&](engine::Batch& batch, std::size_t place) {
        operation(batch, indices[place]);
      });
    });
  }

 private:
  const StoreOptions options_;
  std::mutex mutex_;  // protects what follows
  std::unique_ptr<Store> store_;
  std::chrono::steady_clock::time_point next_attempt_;
};

// Opening

tl::expected<std::unique_ptr<Cluster>, OpenError> Cluster::open(const ClusterOptions& options) {
  std::vector<std::string_view> names(options.servers.begin(), options.servers.end());
  if (names.empty()) {
    return tl::unexpected(OpenError{OpenProblem::invalid_options,
                                    "the list of servers is empty; name at least one server"});
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    return tl::unexpected(
        OpenError{OpenProblem::invalid_options,
                  fmt::format("the list of servers has '{}' twice; name each one once", *twice)});
  }
  names.assign(options.servers.begin(), options.servers.end());
  std::vector<std::unique_ptr<Member>> members;
  members.reserve(names.size());
  bool is_any_reached = false;
  OpenError last_error{};
  for (const std::string& server : options.servers) {
    StoreOptions store = options.store;
    store.server = server;
    members.push_back(std::make_unique<Member>(std::move(store)));
    const auto opened = members.back()->open();
    is_any_reached = is_any_reached || opened.has_value();
    if (opened) continue;
    last_error = opened.error();
    if (!is_away(last_error.problem)) return tl::unexpected(last_error);
  }
  if (!is_any_reached) {
    if (members.size() == 1) return tl::unexpected(last_error);
    last_error.detail = fmt::format("none of {} servers can be reached; of the last: {}",
                                    members.size(), last_error.detail);
    return tl::unexpected(last_error);
  }
  return std::unique_ptr<Cluster>(
      new Cluster(std::move(members), engine::RendezvousHashing(names)));
}

Cluster::Cluster(std::vector<std::unique_ptr<Member>> members, engine::RendezvousHashing hashing)
    : members_(std::move(members)), hashing_(std::move(hashing)) {}

Cluster::~Cluster() = default;

// One key

Cluster::Member& Cluster::member_of(std::string_view key) const {
  return *members_[hashing_.server_of(bytes_of(key))];
}

const std::string& Cluster::server_of(std::string_view key) const { return member_of(key).name(); }

std::vector<StoreMetrics> Cluster::metrics() const {
  std::vector<StoreMetrics> all;
  for (const auto& member : members_) {
    if (auto metrics = member->metrics()) all.push_back(std::move(*metrics));
  }
  return all;
}

engine::GetResult Cluster::get(std::string_view key) {
  Store* const store = member_of(key).store();
  return store == nullptr ? engine::GetResult{} : store->get(key);
}

engine::SetResult Cluster::set(std::string_view key, std::string_view value,
                               std::uint64_t time_to_live_ns) {
  Store* const store = member_of(key).store();
  return store == nullptr ? engine::SetResult{} : store->set(key, value, time_to_live_ns);
}

engine::DeleteResult Cluster::remove(std::string_view key) {
  Store* const store = member_of(key).store();
  return store == nullptr ? engine::DeleteResult{} : store->remove(key);
}

// Many keys

template <typename Result, typename Item, typename KeyOf, typename Operation>
std::vector<Result> Cluster::operate_on_many(std::span<const Item> items, const KeyOf& key_of,
                                             const Operation& operation) {
  std::vector<std::vector<std::size_t>> indices_of(members_.size());
  for (std::size_t index = 0; index < items.size(); ++index) {
    indices_of[hashing_.server_of(bytes_of(key_of(items[index])))].push_back(index);
  }
  std::vector<Result> results(items.size());
  {
    std::vector<std::jthread> threads;
    threads.reserve(members_.size());
    for (std::size_t member = 0; member < members_.size(); ++member) {
      if (indices_of[member].empty()) continue;
      threads.emplace_back([&, member] {
        const auto operate = [&](engine::Batch& batch, std::size_t index) {
          results[index] = operation(batch, items[index]);
        };
        members_[member]->operate(indices_of[member], operate);
        // Like a single call, what found the connection broken and changed nothing is tried again.
        std::erase_if(indices_of[member], [&](std::size_t index) {
          return results[index].answer != engine::Answer::disconnected;
        });
        if (!indices_of[member].empty()) members_[member]->operate(indices_of[member], operate);
      });
    }
  }
  return results;
}

std::vector<engine::GetResult> Cluster::get_many(std::span<const std::string_view> keys) {
  return operate_on_many<engine::GetResult>(
      keys, key_itself,
      [](engine::Batch& batch, std::string_view key) { return batch.get(bytes_of(key)); });
}

std::vector<engine::SetResult> Cluster::set_many(std::span<const KeyAndValue> pairs,
                                                 std::uint64_t time_to_live_ns) {
  return operate_on_many<engine::SetResult>(
      pairs, [](const KeyAndValue& pair) { return pair.first; },
      [time_to_live_ns](engine::Batch& batch, const KeyAndValue& pair) {
        return batch.set(bytes_of(pair.first), bytes_of(pair.second), time_to_live_ns);
      });
}

std::vector<engine::DeleteResult> Cluster::remove_many(std::span<const std::string_view> keys) {
  return operate_on_many<engine::DeleteResult>(
      keys, key_itself,
      [](engine::Batch& batch, std::string_view key) { return batch.remove(bytes_of(key)); });
}

}  // namespace falafel
