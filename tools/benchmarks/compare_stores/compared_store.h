// A store of the comparison, behind one interface. Each store has a file of its own, which lists
// its variants: FAMILY_stores() returns them, and all_stores() collects the lists.
//
// A run has one server and many clients. A store without a server (ComparedStore::has_server) keeps
// its data on the hosts of its clients, or on nodes (ComparedStore::nodes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "fabric/fabric.h"
#include "stores/answer.h"

namespace falafel::compare_stores {

using Bytes = std::vector<std::byte>;

// The load that a store has to provide for; each store sizes its memory by itself.
struct Demand {
  std::uint32_t clients = 20;
  std::uint64_t keys = 50'000;
  std::uint64_t key_bytes = 14;
  std::uint64_t value_bytes = 24;
  double table_load = 0.4;  // share of the table's slots that the keys use
};

// The same for all stores, so that they notice a dead peer equally fast.
inline constexpr std::uint64_t acknowledge_timeout_ns = 1'000'000;
inline constexpr std::uint32_t retry_count = 1;

inline constexpr std::string_view server_name = "server";
std::string client_name(std::uint32_t number);
std::string node_name(std::uint32_t number);

enum class Outcome : std::uint8_t {
  done,    // found or stored
  absent,  // not found
  busy,    // nothing happened because of a concurrent operation; the caller repeats it
  failed,
};

struct Reply {
  Outcome outcome = Outcome::failed;
  std::string_view answer{};  // the store's own word for it
};

// The reply for an answer of the stores that share stores::Answer.
Reply reply_of(stores::Answer answer);

class StoreClient {
 public:
  virtual ~StoreClient() = default;
  // All of them wait. `value` is replaced if the key is found.
  virtual Reply get(std::span<const std::byte> key, Bytes& value) = 0;
  virtual Reply set(std::span<const std::byte> key, std::span<const std::byte> value) = 0;
  // How often the client has waited for the network so far.
  virtual std::uint64_t round_trips() const = 0;

  // The use of the network so far, of stores whose single operations are compared with a paper.
  struct Counters {
    std::uint64_t requests = 0;  // RDMA operations, those of a server for the client included
    std::uint64_t bytes = 0;     // of their payload
    std::uint64_t rereads = 0;   // of what did not verify
  };
  virtual Counters counters() const { return {}; }
};

// A store in one run.
class StoreRun {
 public:
  using Connected = tl::expected<std::unique_ptr<StoreClient>, std::string>;

  virtual ~StoreRun() = default;
  // Runs as a daemon of the server's host and does not return, except with a reason if the server
  // cannot start. `started` is called once clients may connect.
  virtual std::string serve(fabric::Host& host, const std::function<void()>& started) = 0;
  // The same for each node that has a host of its own. Clients may connect once all have started.
  virtual std::string serve_node(fabric::Host& /*host*/, std::uint32_t /*number*/,
                                 const std::function<void()>& /*started*/) {
    return "this store has no nodes";
  }
  // Waits. The client ends before its host does.
  virtual Connected connect(fabric::Host& host, std::uint32_t number) = 0;
  // The registered memory of all servers or nodes. Call while the run goes on.
  virtual std::uint64_t memory_bytes() const = 0;
};

// The verdict about a property, and a link to the evidence, seen from docs/.
struct Finding {
  std::string_view verdict;
  std::string_view evidence;
};

struct Findings {
  Finding linearizable;
  Finding lock_free;  // nobody waits for a client that has stopped
  Finding bounded;    // an operation ends whatever others do
};

struct ComparedStore {
  std::string_view name;
  std::string_view protocol;  // published or hardened
  bool has_server = true;
  // Hosts beside those of the clients, on the same machines in turn. Each has a thread of its own.
  std::uint32_t nodes = 0;
  // Servers share the processors of the clients, so nobody knows what share is theirs.
  bool has_workers_at_clients = false;
  std::uint64_t warm_up_ns_per_key = 0;  // that its clients' caches need before a measurement
  Findings findings{};
  std::function<std::unique_ptr<StoreRun>(const Demand& demand)> create{};
};

std::vector<ComparedStore> falafel_stores();
std::vector<ComparedStore> pilaf_stores();
std::vector<ComparedStore> nessie_stores();
std::vector<ComparedStore> two_sided_stores();
std::vector<ComparedStore> c_hint_stores();
std::vector<ComparedStore> race_stores();
std::vector<ComparedStore> swarm_stores();
std::vector<ComparedStore> all_stores();

}  // namespace falafel::compare_stores
