// The store for applications: a connection to a server that any thread may use, and that reconnects
// when the server returns.
//
//   auto store = falafel::Store::open({}).value();
//   store->set("greeting", "hello");
//   const auto result = store->get("greeting");
//   if (result.answer == falafel::engine::Answer::found) use(falafel::text_of(result.value));
//
// All threads together have one operation in flight, because a fabric answers faster than threads
// can switch. Use fibers for many operations in flight (see run()). To use several processors, open
// one store per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "engine/client/condition.h"
#include "engine/client/results.h"
#include "engine/client/value_buffer.h"
#include "engine/layout/pinned.h"
#include "engine/time_bounds.h"
#include "fabric/error.h"
#include "falafel/fabric_options.h"
#include "falafel/metrics.h"
#include "falafel/open_error.h"

namespace falafel::fabric {
class Host;
}
namespace falafel::engine {
class Client;
}

namespace falafel {

using engine::pinned_time_to_live_ns;

struct StoreOptions {
  std::string server = "falafel";  // the server's name
  FabricOptions fabric;
  // Maximum number of concurrent operations of fibers (see run()); further ones wait. 1 to 4096.
  std::uint32_t max_operations_in_flight = 16;
  // The number of keys whose place the client remembers; it reads or changes these in one round
  // trip. A key takes 104 bytes, more if it is longer than 15 bytes. 0: none; absent: 65,536, or
  // none over shared memory, where a round trip costs no more than a look into the cache.
  std::optional<std::uint32_t> location_cache_entries{};
  // By each port (FabricOptions::spare).
  std::uint64_t connect_timeout_ns = 5'000'000'000;
  // An operation waits this long for a server that does not respond, and then answers `timed_out`.
  std::uint64_t server_timeout_ns = engine::default_server_timeout_ns;
  // While the server is away, operations try to reconnect at most this often.
  std::uint64_t reconnect_interval_ns = 100'000'000;
  // If true, metrics() counts and times operations.
  bool metrics = true;
};

// A key or a value as the engine takes it, and the bytes of a value as text.
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string_view text_of(const std::vector<std::byte>& value) {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

// A call throws std::bad_alloc if this process runs out of memory. A single operation has then
// changed nothing; some operations of a batch may have been carried out. With verbs, the process
// ends if it has no memory to take completions from the device.
//
// An exception of a callback (`use`, `visit`, `body`) leaves the call when the operations in flight
// have ended; a batch begins no further ones.
//
// A callback must not make a call of its own store that waits, because the call would wait for
// itself; it throws std::logic_error. A callback may call another store, unless a callback of that
// one calls this store.
class Store {
 public:
  using KeyAndValue = std::pair<std::string_view, std::string_view>;

  // Connects. May be called from any thread.
  static tl::expected<std::unique_ptr<Store>, OpenError> open(const StoreOptions& options);
  // Notifies the server. Requires that no operation is in flight.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // These calls wait and may be made from any thread, but not from a fiber of this store. Keys
  // consist of 1 to 65,536 arbitrary bytes. A value and its key must fit into a region of the
  // server. Operations on one key are linearizable.
  //
  // An operation that finds the connection broken reconnects if the server is back and then runs.
  // A server that has lost its memory has none of the earlier contents; server_incarnation() then
  // has a new value. It has the same one if the server started over its memory.
  // An operation with an unknown outcome is not repeated.
  engine::GetResult get(std::string_view key);
  engine::SetResult set(std::string_view key, std::string_view value) { return set(key, value, 0); }
  // In a cache (`falafel serve --cache`), the value expires after the time to live; 0: never;
  // pinned_time_to_live_ns: never, and a full cache does not evict it. Other stores answer
  // `not_a_cache` if there is one.
  engine::SetResult set(std::string_view key, std::string_view value,
                        std::uint64_t time_to_live_ns);
  // Stores the value if the key meets the condition, and otherwise answers `differs`. One atomic
  // operation: of several clients that expect the same value, one stores its own. In a cache, the
  // new value has this time to live; nullopt: it expires when the present one would have, and is
  // pinned if that is.
  //
  //   store->compare_and_set("key", Condition::equals(result.value), "next", std::nullopt);
  //   store->compare_and_set("key", Condition::absent(), "first", std::nullopt);
  engine::SetResult compare_and_set(std::string_view key, const engine::Condition& condition,
                                    std::string_view value,
                                    std::optional<std::uint64_t> time_to_live_ns);
  // In a cache, it may answer `deleted` for a value that has expired.
  engine::DeleteResult remove(std::string_view key);
  // The same as get() without a copy: if the key is found, calls `use` once with the bytes that the
  // network delivered, and the result has no value.
  engine::GetResult get(std::string_view key,
                        const std::function<void(std::span<const std::byte> value)>& use);

  // The same into a buffer of allocate_buffer(), which keeps the value without a copy:
  // GetResult::place says where it lies there (ValueBuffer::value_at). A value that does not fit
  // (ValueBuffer::bytes_for) is found as by get() above, without a place. During the call, the
  // buffer belongs to the call; afterwards, its bytes outside of the place are undefined, whatever
  // the answer is. Calls of several threads may use parts of one buffer (ValueBuffer::part).
  engine::GetResult get(std::string_view key, const engine::ValueBuffer& buffer);
  // Memory for such values: registered with the network device, and locked, as long as it lasts.
  // After a reconnection, the next get() registers it again. Handles may be copied and destroyed in
  // any thread and callback; the memory is free soon after the last one. The buffer belongs to this
  // store: no other one may use it, and all handles must be destroyed before the store. Over shared
  // memory, it counts as memory of this process (FabricOptions::memory_limit_bytes). Waits. Errors:
  // invalid_argument (no bytes), out_of_memory.
  tl::expected<engine::ValueBuffer, fabric::Error> allocate_buffer(std::uint64_t size_bytes);

  // Many operations at once, in no particular order, with up to max_operations_in_flight of them
  // under way. Their requests share round trips and doorbells. Returns one result for each key, in
  // the order of the keys. Each operation is linearizable; all of them together are not one
  // operation. A key that occurs twice in set_many() ends with one of its values. All values of
  // set_many() have the same time to live (see set()).
  std::vector<engine::GetResult> get_many(std::span<const std::string_view> keys);
  std::vector<engine::GetResult> get_many(
      std::span<const std::string_view> keys,
      const std::function<void(std::size_t index, std::span<const std::byte> value)>& use);
  // Into buffers of allocate_buffer(), or parts of one: one for each key.
  std::vector<engine::GetResult> get_many(std::span<const std::string_view> keys,
                                          std::span<const engine::ValueBuffer> buffers);
  std::vector<engine::SetResult> set_many(std::span<const KeyAndValue> pairs) {
    return set_many(pairs, 0);
  }
  std::vector<engine::SetResult> set_many(std::span<const KeyAndValue> pairs,
                                          std::uint64_t time_to_live_ns);
  std::vector<engine::DeleteResult> remove_many(std::span<const std::string_view> keys);

  // Calls `visit` for the keys of the store, in no particular order, each with its value and what
  // is left of its time to live; 0: it does not expire; pinned_time_to_live_ns: it is pinned. The
  // bytes are valid only during the call.
  // A key that is in the store during the whole scan is visited at least once; one that is inserted
  // or deleted meanwhile may be visited or not, and any key may be visited twice. Calls of other
  // threads wait until the scan has ended.
  //
  // Errors: disconnected, timed_out, out_of_memory (of this host), each after some keys may have
  // been visited; corrupted: all keys were visited but those of containers that do not verify.
  // Reconnects like get(), but only before the first visit.
  tl::expected<void, engine::Answer> for_each_key(
      const std::function<void(std::string_view key, std::span<const std::byte> value,
                               std::uint64_t time_to_live_ns)>& visit);

  // Runs `body` as a fiber on the calling thread. The fiber may use all functions of its host, and
  // may spawn fibers with operations of their own. When run() returns, all of these fibers have
  // ended. Calls of other threads wait in the meantime. Returns false if the server is away; `body`
  // was then not called. An exception of a fiber that `body` has spawned ends the process. Before
  // `body` throws, the fibers that it has spawned must have ended. May be called from any thread,
  // but not from a fiber of this store.
  bool run(const std::function<void(fabric::Host&, engine::Client&)>& body);

  // Returns whether the connection was intact at its last use, including uses by the store itself.
  // May be called from any thread.
  bool is_connected();
  // Identifies the contents of the server that this store was last connected to. Does not wait.
  std::uint64_t server_incarnation() const;
  // Tells if that server runs a cache. Does not wait.
  bool is_cache() const;

  // The metrics of this store so far, including operations of fibers. Without
  // StoreOptions::metrics, they count only connections and operations that found the server away.
  // May be called from any thread and any fiber; does not wait, and delays no operation.
  StoreMetrics metrics() const;

 private:
  class Connection;
  friend class OperationRunner;
  explicit Store(std::unique_ptr<Connection> connection);

  // Counts an operation that run() could not start because the server is away.
  void count_disconnected(engine::Operation operation);

  std::unique_ptr<Connection> connection_;
};

}  // namespace falafel
