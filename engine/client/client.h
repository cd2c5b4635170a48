// A client of the store: GET, SET and DELETE by one-sided RDMA (Behringer 3.5).
//
//   auto client = Client::connect(host, {.host = "server", .service = 7}, {}).value();
//   client->set(bytes_of("greeting"), bytes_of("hello"));
//   GetResult result = client->get(bytes_of("greeting"));
//
// Any number of fibers of the client's host may run operations concurrently; each waits only for
// its own round trips. With Safeguards::hardened(), operations on one key are linearizable across
// all clients. Operations are lock-free: an operation restarts only because another operation or
// the server made progress.
//
// A broken connection is final. All further operations answer `disconnected`, the application must
// connect a new client, and the server reclaims this client's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <tl/expected.hpp>
#include <vector>

#include "engine/client/batch.h"
#include "engine/client/client_options.h"
#include "engine/client/condition.h"
#include "engine/client/key_and_value.h"
#include "engine/client/results.h"
#include "engine/client/value_buffer.h"
#include "engine/layout/geometry.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class Session;

class Client {
 public:
  // Waits. Errors: those of Device::connect (connection_refused with the server's reason,
  // unreachable); invalid_argument (an option out of range, a server of another version, an invalid
  // hello or superblock); unsupported (a device whose queues are too short); out_of_memory.
  static fabric::Result<std::unique_ptr<Client>> connect(fabric::Host& host,
                                                         const fabric::Address& server,
                                                         const ClientOptions& options);
  // Drops the connection without waiting. Pending operations answer `disconnected` or
  // `unknown_outcome`.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // These calls wait. Keys and values are arbitrary bytes; the spans must remain valid until the
  // call returns. If the calling fiber is cancelled, its buffers stay with the requests in flight,
  // which reduces max_operations_in_flight by one.
  GetResult get(std::span<const std::byte> key);
  // The same without a copy of the value, for large ones (Behringer 5.5.1): if the answer is
  // `found`, calls `use` once with the bytes that the network delivered, and the result has no
  // value. The bytes are valid only during that call, which must not wait.
  GetResult get(std::span<const std::byte> key,
                const std::function<void(std::span<const std::byte> value)>& use);
  // The same into a buffer of the caller, which keeps the value: GetResult::place says where it
  // lies there (ValueBuffer::value_at). The READ of a container that may have the key goes straight
  // into the buffer, and is verified there; only what several READs ahead of others bring is copied
  // within, ReadaheadOptions::container_bytes at most. A value that does not fit
  // (ValueBuffer::bytes_for) is found as by get(), without a place.
  //
  // During the call, the buffer belongs to the call: no other GET may use it, and whatever the
  // answer is, its bytes outside of the place are undefined afterwards. It belongs to the caller
  // again when the call has returned, also if the connection broke. If the fiber is cancelled
  // during the call, requests may write to the buffer until the connection has ended; the memory
  // lasts for as long. `out_of_memory` is also the answer if the buffer has to be registered for
  // this connection and the system cannot lock it.
  GetResult get(std::span<const std::byte> key, const ValueBuffer& buffer);
  // Memory for such values, registered for this connection. It may outlive the client, and clients
  // of the same host that connect later can use it. Over shared memory, it is part of the memory of
  // this process on the fabric. Errors: invalid_argument (no bytes), out_of_memory.
  fabric::Result<ValueBuffer> allocate_buffer(std::uint64_t size_bytes);
  SetResult set(std::span<const std::byte> key, std::span<const std::byte> value) {
    return set(key, value, 0);
  }
  // In a cache, the value expires after the time to live; 0: never; pinned_time_to_live_ns: never,
  // and the server does not evict it (engine/layout/pinned.h). Clocks of hosts differ, so that
  // another client may find it expired earlier or later by the difference.
  SetResult set(std::span<const std::byte> key, std::span<const std::byte> value,
                std::uint64_t time_to_live_ns);
  // SET if the key meets the condition. Otherwise answers `differs` and changes nothing. One atomic
  // operation: of several clients that expect the same value, one stores its own. Does not notice
  // that the server moves the value. Does not repair damage: answers `corrupted` as GET does.
  // In a cache, nullopt as time to live: the new value expires when the present one would have, and
  // is pinned if that is.
  //
  //   client->compare_and_set(key, Condition::equals(result.value), next, std::nullopt);
  SetResult compare_and_set(std::span<const std::byte> key, const Condition& condition,
                            std::span<const std::byte> value,
                            const std::optional<std::uint64_t>& time_to_live_ns);
  // In a cache, it may answer `deleted` for a value that has expired.
  DeleteResult remove(std::span<const std::byte> key);

  // Many operations at once, in no particular order. Up to max_operations_in_flight of them are in
  // flight at the same time, and their requests share doorbells: on an idle store, they take the
  // round trips and the doorbells of one. Each operation is linearizable and has a result of its
  // own; all of them together are not one operation. If the calling fiber is cancelled, each
  // operation in flight reduces max_operations_in_flight by one.
  std::vector<GetResult> get_many(std::span<const std::span<const std::byte>> keys);
  // Without a copy of the values, as get() with `use`; results have no value.
  std::vector<GetResult> get_many(
      std::span<const std::span<const std::byte>> keys,
      const std::function<void(std::size_t index, std::span<const std::byte> value)>& use);
  // Into buffers of the caller, one for each key.
  std::vector<GetResult> get_many(std::span<const std::span<const std::byte>> keys,
                                  std::span<const ValueBuffer> buffers);
  std::vector<SetResult> set_many(std::span<const KeyAndValue> pairs);
  std::vector<DeleteResult> remove_many(std::span<const std::span<const std::byte>> keys);
  // The general form: calls operate(batch, index) once for each index below `count`, on several
  // fibers. The function may wait only for operations of the batch, because the others count on it.
  // After the first exception, no further call begins, and the exception leaves run_batch() when
  // the calls that had begun have ended.
  void run_batch(std::size_t count,
                 const std::function<void(Batch& batch, std::size_t index)>& operate);

  // Calls `visit` for the keys of the store, in no particular order. Waits. The scan is not atomic:
  // a key that is in the store during the whole call is visited at least once, with a value that it
  // had meanwhile. A key that is inserted or deleted meanwhile may be visited or not, and any key
  // may be visited twice. If nobody changes the store and its table has an empty entry, each key is
  // visited once. A value that has expired is not visited. `visit` may wait and may use this
  // client. The client needs memory for the keys and values of one chunk of the table
  // (ReadaheadOptions::chunk_entries). Requires Safeguards::hardened() at the server.
  //
  // Errors: disconnected, timed_out, out_of_memory (of this host), each after some keys may have
  // been visited; corrupted: all keys were visited but those of containers that do not verify.
  // `visit_damaged` may be empty.
  tl::expected<void, Answer> for_each_key(const VisitPair& visit,
                                          const VisitDamaged& visit_damaged = {});
  // Removes the entry of a container that does not verify. Waits. Answers `not_found` if the entry
  // has changed since.
  DeleteResult drop_damaged(const DamagedContainer& damaged);

  // Waits until no operation of any client of the server is left that began before the call: it has
  // ended, or the server has fenced its client and nothing of it is landing. The server's process
  // has then run after the call. Errors: disconnected, timed_out.
  tl::expected<void, Answer> wait_for_end_of_operations(std::uint64_t timeout_ns);

  // Notifies the server, so that it reclaims this client's memory at once. Waits. Pending
  // operations answer as if the connection had broken.
  void disconnect();

  bool is_connected() const;
  const Geometry& geometry() const;
  // Returns whether values can have a time to live.
  bool is_cache() const { return geometry().values_expire; }
  // Identifies the content of the server's memory. A server that starts over its memory has the
  // same number, and one whose memory is new has another.
  std::uint64_t server_incarnation() const;
  // The sum over all completed operations.
  const OperationStatistics& statistics() const;

 private:
  explicit Client(std::shared_ptr<Session> session);

  std::unique_ptr<const OperationContext> context_;
};

}  // namespace falafel::engine
