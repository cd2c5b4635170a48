// Random operations on a store by several actors (fibers of clients), judged by a model while they run.
//
// An actor owns keys that nobody else touches: what it reads of them must be what it wrote last. All
// actors share the other keys: what is read of them must have been written by somebody. Answers that
// refuse are accepted only where they can be right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/engine/store.h"

namespace falafel::engine_test {

enum class OperationKind : std::uint8_t { get, set, remove };

struct Operation {
  OperationKind kind = OperationKind::get;
  std::size_t key = 0;               // modulo the keys that the actor may use
  std::uint32_t value_permille = 0;  // of what fits a region with the key
};

struct Workload {
  StoreOptions store{};
  std::size_t clients = 1;
  std::size_t fibers = 1;  // of each client, at work at the same time
  std::size_t own_keys = 2;
  std::vector<Bytes> keys;  // first the own ones, actor by actor, then the shared ones
  std::vector<std::vector<Operation>> operations;  // of each actor

  std::size_t actors() const { return clients * fibers; }
};
std::string describe(const Workload& workload);

class WorkloadRun {
 public:
  WorkloadRun(const Workload& workload, fabric::FiberStackPool& stacks);
  StoreRun run();

 private:
  struct Key {
    bool is_shared = false;
    std::set<Bytes> values;       // all that somebody tried to set
    std::optional<Bytes> stored;  // own: what GET must find
  };

  void run_client(fabric::Host& host, Client& client, std::size_t number);
  void run_actor(Client& client, std::size_t actor);
  std::size_t key_index(std::size_t actor, std::size_t key) const;
  void get(Client& client, std::size_t index);
  void set(Client& client, std::size_t index, std::uint32_t value_permille);
  void remove(Client& client, std::size_t index);
  Bytes next_value(std::size_t index, std::uint32_t value_permille);

  bool fits_region(std::size_t index, const Bytes& value) const;
  bool may_be_full(std::size_t index) const;
  bool may_run_out_of_memory() const;
  void judge_contents(StoreRun& run) const;
  void require(bool condition, std::size_t index, std::string_view what);

  const Workload& workload_;
  Store store_;
  std::vector<Key> keys_;
  std::uint64_t sets_ = 0;
};

}  // namespace falafel::engine_test
