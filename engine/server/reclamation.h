// Epoch reclamation: decides when collected memory may be reused.
//
// No entry points into collected memory, but an operation that began earlier may remember such an
// entry. The memory therefore waits until every client that was connected at the end of the
// collection has confirmed that it has no such operation left, or has been fenced. Each collection
// begins an epoch (client_epochs.h).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/server/client_epochs.h"
#include "engine/server/membership.h"

namespace falafel::engine {

// Memory that waits for clients: a region or a mature space.
struct CollectedMemory {
  enum class Kind : std::uint8_t { region, mature_space } kind = Kind::region;
  std::uint32_t index = 0;
};

class Reclamation {
 public:
  // `membership` asks the clients.
  explicit Reclamation(Membership& membership)
      : epochs_(membership, Question::quiescence, MessageKind::ask_for_quiescence) {}

  void add_client(std::uint32_t client) { epochs_.add_client(client); }
  // The client is fenced.
  void remove_client(std::uint32_t client) { epochs_.remove_client(client); }
  // Returns whether the client was asked about that epoch and has not answered.
  bool is_answer(std::uint32_t client, std::uint64_t epoch) const {
    return epochs_.is_answer(client, epoch);
  }
  // Returns whether the client answers a request that it never received.
  bool is_unheard_of(std::uint32_t client, std::uint64_t epoch) const {
    return epochs_.is_unheard_of(client, epoch);
  }
  void on_quiescent(std::uint32_t client, std::uint64_t epoch) { epochs_.confirm(client, epoch); }

  // The collection of `memory` has ended.
  void add(const std::vector<CollectedMemory>& memory);
  // Removes the memory that may be reused, and returns it. Call after each of the functions above
  // that changes something.
  std::vector<CollectedMemory> take_reclaimed();
  bool is_waiting() const { return !waiting_.empty(); }
  // Returns whether any memory waits for that client.
  bool is_awaited(std::uint32_t client) const;

 private:
  struct Waiting {
    std::uint64_t epoch = 0;
    CollectedMemory memory;
  };

  ClientEpochs epochs_;
  std::vector<Waiting> waiting_;
};

}  // namespace falafel::engine
