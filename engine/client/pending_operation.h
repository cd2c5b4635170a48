// One pending GET, SET or DELETE: its round trips, its statistics, and its age, which the server
// asks for in its quiescence requests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/client/operation_buffers.h"
#include "engine/client/operation_context.h"
#include "engine/client/session.h"
#include "engine/layout/container.h"
#include "engine/layout/entry.h"
#include "engine/layout/geometry.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// The result of a compare-and-swap on an entry. In doubt: the connection broke while it was in
// flight.
enum class Swap : std::uint8_t { won, lost, not_tried, in_doubt };

class PendingOperation {
 public:
  explicit PendingOperation(const OperationContext& context);  // waits for a slot
  ~PendingOperation();
  PendingOperation(const PendingOperation&) = delete;
  PendingOperation& operator=(const PendingOperation&) = delete;

  Session& session() { return *session_; }
  const Session& session() const { return *session_; }
  const Safeguards& safeguards() const { return session_->options().safeguards; }
  Verification verification() const;
  OperationStatistics& statistics() { return statistics_; }
  const Geometry& geometry() const { return session_->server().geometry; }
  RegionAllocator& regions() { return session_->regions(); }
  fabric::Host& host() const { return session_->host(); }
  void count(const fabric::Probe& probe) { host().count(probe); }
  // Reports the processor's work, for predictions (fabric::Host::spend).
  void spend(fabric::Work work, std::uint64_t bytes) { host().spend(work, bytes); }
  void spend_on_checksum(std::uint64_t bytes) {
    if (safeguards().crc_verification) spend(fabric::Work::checksum, bytes);
  }

  // Call before the operation reads; discards what an earlier attempt read.
  void begin();
  void restart();
  // The operation has been restarting for ClientOptions::server_timeout_ns and must give up. Most
  // operations never restart and have no deadline; they do not pay for reading the clock.
  bool is_overdue() const {
    return deadline_ns_ != fabric::never_ns && host().now_ns() >= deadline_ns_;
  }
  // Call between the pieces of a walk. Returns true if the operation has to answer `timed_out`:
  // otherwise the server would give up on the client, and with it on all its operations. An
  // operation that reads one piece only does not pay for reading the clock.
  bool has_walked_too_long();
  // The operation discards everything it read and may wait for the server until the next begin().
  void forget();
  // Call when an entry is locked, before the next attempt; `attempts` counts the earlier calls. A
  // cleanup holds its locks for several round trips, so an immediate attempt would only load the
  // device.
  void wait_for_unlock(std::uint32_t attempts) const;
  // Keep the result while the operation waits for anything but its round trips, so that the others
  // of its batch do not count on it. May wait.
  Gathering::Absence leave_gathering() const {
    return Gathering::Absence(is_apart() ? nullptr : gathering_);
  }
  // Call after leaving the gathering for an event that several operations of a batch wait for. The
  // operations that it woke return to the batch before this one continues. May wait.
  void let_others_return() {
    if (!is_apart()) host().yield();
  }

  // Posts a chain of READs and waits for one round trip. Returns false if the connection is broken.
  bool read(std::span<fabric::WorkRequest> chain);
  // The same for a chain that ends with a compare-and-swap on an entry; `expected` is its expected
  // value.
  Swap post_swap(std::span<fabric::WorkRequest> chain, Entry expected);

  OperationBuffers& buffers() { return buffers_; }
  const OperationBuffers& buffers() const { return buffers_; }

  // Reads the server's counter of rebindings (engine/layout/status_line.h). Waits for one round
  // trip. Returns nullopt if the connection is broken.
  std::optional<std::uint64_t> read_rebindings();
  // Reads which tables are in use (engine/layout/tables.h), so that session().tables() knows. Waits
  // for one round trip. Returns false if the connection is broken.
  bool read_tables();
  // The same after a chain with OperationBuffers::read_status(tables_offset) has completed.
  void learn_tables();

  // Ensures that this part of the container is loaded; waits if it is not.
  enum class Load : std::uint8_t { done, out_of_memory, disconnected };
  Load load_through(LoadedContainer& container, std::uint64_t length_bytes);

  // Call when the container of this entry fails to verify. Returns true if the container is
  // damaged, which is the case if the same entry failed before: because the entry did not change in
  // between, the server is not moving data there. After restarts for `most_unreadable` different
  // words, the operation does not restart for further ones, so a client that keeps changing words
  // cannot delay it forever.
  bool note_bad_checksum(std::uint64_t slot, Entry entry);

 private:
  std::size_t take_slot() const;  // waits
  bool is_apart() const { return gathering_ == nullptr || apart_.has_value(); }
  ChainOutcome execute_chain(std::span<fabric::WorkRequest> chain);
  void note_round_trip(std::span<const fabric::WorkRequest> chain);
  ChainOutcome post_together_or_apart(std::span<fabric::WorkRequest> chain);
  bool read_rest(const LoadedContainer& container, std::uint64_t begin);

  std::shared_ptr<Session> session_;
  std::shared_ptr<Gathering> gathering_;  // null: the operation is in no batch
  OldOperations::Lifetime lifetime_;      // begins before the operation waits for a slot
  // An operation that had to restart continues apart from its batch, because it may have to wait.
  std::optional<Gathering::Absence> apart_;
  std::size_t slot_;
  OperationBuffers buffers_;
  bool in_flight_ = false;
  std::uint64_t deadline_ns_ = fabric::never_ns;  // set at the first restart
  std::uint64_t end_of_walk_ns_ = 0;              // set behind the first piece; 0: not yet
  OperationStatistics statistics_;
  struct UnreadableContainer {
    std::uint64_t slot = 0;
    Entry entry;

    friend bool operator==(const UnreadableContainer&, const UnreadableContainer&) = default;
  };
  static constexpr std::size_t most_unreadable = 16;
  std::vector<UnreadableContainer> unreadable_;
};

}  // namespace falafel::engine
