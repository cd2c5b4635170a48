// The tools of the operators of a changing cluster (change_run.h): a value that hosts read and
// replace with delays stands for etcd, and clients of the engine reach the keys of servers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/client/client.h"
#include "engine/placement/change.h"
#include "engine/placement/placement.h"
#include "fabric/fabric.h"

namespace falafel::cluster_scenario {

// A server of the scenario, which may crash and come back empty.
struct Place {
  std::uint32_t lives = 0;
  bool is_up = false;
  engine::PlacementList list_at_crash{};  // of the last crash
};

void sleep_up_to(fabric::Host& host, std::uint64_t longest_ns);

// etcd takes its time before and after it answers.
class Directory final : public engine::PlacementDirectory {
 public:
  // Calls on_replaced() at the moment when the list is replaced.
  Directory(fabric::Host& host, Entry& entry, std::function<void()> on_replaced = {})
      : host_(host), entry_(entry), on_replaced_(std::move(on_replaced)) {}

  tl::expected<Entry, std::string> read() override;
  tl::expected<bool, std::string> replace(const engine::PlacementList& list,
                                          std::uint64_t revision) override;

 private:
  fabric::Host& host_;
  Entry& entry_;
  std::function<void()> on_replaced_;
};

// The lives in which a change last found servers running, by their names.
using FoundLives = std::map<std::string, std::uint32_t>;

class Keys final : public engine::ServerKeys {
 public:
  struct Options {
    FoundLives* found = nullptr;  // null: they do not ask whether the server runs
    bool waits_for_end = true;    // of operations
    engine::MayChange may_change{};
    std::function<void()> on_copied{};  // the server has got a key
  };

  Keys(std::string server, std::unique_ptr<engine::Client> client, const Place& place,
       Options options)
      : server_(std::move(server)),
        client_(std::move(client)),
        place_(place),
        options_(std::move(options)) {}

  tl::expected<void, engine::Answer> list(Contents& contents) override;
  engine::GetResult get(std::span<const std::byte> key) override { return client_->get(key); }
  engine::SetResult set(std::span<const std::byte> key, std::span<const std::byte> value,
                        std::uint64_t time_to_live_ns) override;
  engine::DeleteResult remove(std::span<const std::byte> key) override {
    return options_.may_change() ? client_->remove(key) : engine::DeleteResult();
  }
  engine::DeleteResult drop(const engine::DamagedContainer& damaged) override {
    return options_.may_change() ? client_->drop_damaged(damaged) : engine::DeleteResult();
  }
  tl::expected<void, engine::Answer> wait_for_end_of_operations(std::uint64_t timeout_ns) override {
    if (!options_.waits_for_end) return {};
    return client_->wait_for_end_of_operations(timeout_ns);
  }
  bool is_same_run() override;

 private:
  const std::string server_;
  std::unique_ptr<engine::Client> client_;
  const Place& place_;
  const Options options_;
};

}  // namespace falafel::cluster_scenario
