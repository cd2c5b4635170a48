// Random operations on a store by several actors (fibers of clients), checked against a model while
// they run. Half of the GETs read into buffers of the caller.
//
// An actor owns keys that nobody else uses; a read of such a key must return the last value
// written. All actors share the other keys; a read must return a value that someone wrote. Refusals
// are accepted only where they can be correct.
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

struct WorkloadOperation {
  OperationKind kind = OperationKind::get;
  std::size_t key = 0;               // modulo the number of keys that the actor may use
  std::uint32_t value_permille = 0;  // of the size that fits a region together with the key
};

struct Workload {
  StoreOptions store{};
  std::size_t clients = 1;
  std::size_t fibers = 1;  // concurrent fibers per client
  std::size_t own_keys = 2;
  std::vector<Bytes> keys;  // each actor's own keys, then the shared keys
  std::vector<std::vector<WorkloadOperation>> operations;  // by actor

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
    std::set<Bytes> values;       // all values that were passed to SET
    std::optional<Bytes> stored;  // own keys: the value that GET must find
  };

  void run_client(fabric::Host& host, Client& client, std::size_t number);
  void run_actor(Client& client, std::size_t actor);
  std::size_t key_index(std::size_t actor, std::size_t key) const;
  void get(Client& client, std::size_t index);
  // Every second time into a buffer, which may be too short.
  engine::GetResult get_either_way(Client& client, std::size_t index);
  void set(Client& client, std::size_t index, std::uint32_t value_permille);
  void remove(Client& client, std::size_t index);
  Bytes next_value(std::size_t index, std::uint32_t value_permille);

  bool fits_region(std::size_t index, const Bytes& value) const;
  bool may_be_full(std::size_t index) const;
  bool may_run_out_of_memory() const;
  void judge_contents(StoreRun& run) const;
  void require(bool condition, std::size_t index, std::string_view what);

  const Workload& workload_;
  TestStore store_;
  std::vector<Key> keys_;
  std::uint64_t sets_ = 0;
  std::uint64_t gets_ = 0;
};

}  // namespace falafel::engine_test
