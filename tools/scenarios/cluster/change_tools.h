// The tools of the operators of a changing cluster (change_run.h): a value that hosts read and
// replace with delays stands for etcd, and clients of the engine reach the keys of servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/client/client.h"
#include "engine/placement/change.h"
#include "engine/placement/incarnation_keys.h"
#include "engine/placement/placement.h"
#include "fabric/fabric.h"

namespace falafel::cluster_scenario {

// A server of the scenario, whose process may end, with its memory or without.
struct Place {
  std::uint32_t lives = 0;     // processes
  std::uint32_t contents = 0;  // of its memory: how often it was lost
  bool is_up = false;
  bool has_lost_keys = false;            // when the last process ended
  engine::PlacementList list_at_loss{};  // of the last loss
};

std::string name_of(std::size_t server);
std::size_t number_of(const std::string& server);

void sleep_up_to(fabric::Host& host, std::uint64_t longest_ns);

// etcd takes its time before and after it answers.
class Directory final : public engine::PlacementDirectory {
 public:
  struct Reading {
    const Entry& entry;
    std::uint64_t asked_ns = 0;
    std::uint64_t read_ns = 0;  // the directory had the entry then
    std::uint64_t answered_ns = 0;
  };
  struct Options {
    std::function<void()> on_call{};      // before each call
    std::function<void()> on_replace{};   // before a call of replace()
    std::function<void()> on_replaced{};  // at the moment when the list is replaced
    // After a call of read().
    std::function<void(const Reading& reading)> on_read{};
  };

  Directory(fabric::Host& host, Entry& entry, Options options)
      : host_(host), entry_(entry), options_(std::move(options)) {}

  tl::expected<Entry, std::string> read() override;
  tl::expected<bool, std::string> replace(const engine::PlacementList& list,
                                          std::uint64_t revision) override;

 private:
  fabric::Host& host_;
  Entry& entry_;
  const Options options_;
};

// The contents with which a change last found servers, by their names.
using FoundContents = std::map<std::string, std::uint32_t>;

// The operator's keys at one server, as engine::IncarnationKeys has them.
class Keys final : public engine::ServerKeys {
 public:
  struct Copy {
    std::span<const std::byte> key;
    std::span<const std::byte> value;
    std::uint64_t time_to_live_ns = 0;
  };
  struct Options {
    FoundContents* found = nullptr;  // null: they do not ask whether the copies are there
    bool waits_for_end = true;       // of operations
    bool compares_incarnations = true;
    engine::MayChange may_change{};
    std::function<void()> on_call{};                    // before each call
    std::function<void()> on_read{};                    // before a GET
    std::function<void(const Copy& copy)> on_copy{};    // the server is about to get it
    std::function<void(const Copy& copy)> on_copied{};  // the server has got it
    std::function<void()> on_broken{};                  // the connection broke during a SET
    std::function<void(const Contents& contents)> on_listed{};
    std::function<void(std::span<const std::byte> key, engine::Answer answer)> on_got{};
    // Connects again when the connection is lost. Empty: there is one connection. Null if the
    // server does not answer.
    std::function<std::unique_ptr<engine::Client>()> reconnect{};
  };

  Keys(std::string server, std::unique_ptr<engine::Client> client, const Place& place,
       Options options)
      : server_(std::move(server)),
        client_(std::move(client)),
        incarnation_(client_->server_incarnation()),
        place_(place),
        options_(std::move(options)) {}

  tl::expected<void, engine::Answer> list(Contents& contents) override;
  engine::GetResult get(std::span<const std::byte> key) override;
  engine::SetResult set(std::span<const std::byte> key, std::span<const std::byte> value,
                        std::uint64_t time_to_live_ns) override;
  engine::DeleteResult remove(std::span<const std::byte> key) override;
  engine::DeleteResult drop(const engine::DamagedContainer& damaged) override;
  tl::expected<void, engine::Answer> wait_for_end_of_operations(std::uint64_t timeout_ns) override;
  bool is_same_incarnation() override;

 private:
  // Without the comparison of incarnations, the memory that the server has now counts as the
  // former one.
  template <typename Result>
  Result operate(const std::function<Result(engine::IncarnationKeys&)>& operation);
  // For one call.
  engine::IncarnationKeys keys();
  void reconnect();

  const std::string server_;
  std::unique_ptr<engine::Client> client_;
  std::uint64_t incarnation_;
  const Place& place_;
  const Options options_;
};

}  // namespace falafel::cluster_scenario
