// Epoch reclamation: decides when collected memory may be reused.
//
// No entry points into collected memory, but an operation that began earlier may remember such an
// entry. The memory therefore waits until every client that was connected at the end of the
// collection has confirmed that it has no such operation left, or has been fenced. Each collection
// begins an epoch. The server sends the epoch in a request, and the client confirms it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace falafel::engine {

// Memory that waits for clients: a region or a mature space.
struct CollectedMemory {
  enum class Kind : std::uint8_t { region, mature_space } kind = Kind::region;
  std::uint32_t index = 0;
};

class Reclamation {
 public:
  // `ask(client, epoch)` sends the request. `reclaim` is called when the memory may be reused.
  Reclamation(std::function<void(std::uint32_t, std::uint64_t)> ask,
              std::function<void(const CollectedMemory&)> reclaim);

  void add_client(std::uint32_t client);
  void remove_client(std::uint32_t client);  // the client is fenced
  // Whether the client was asked about that epoch and has not answered.
  bool is_answer(std::uint32_t client, std::uint64_t epoch) const;
  // Whether the client answers a request that it never received.
  bool is_unheard_of(std::uint32_t client, std::uint64_t epoch) const;
  void on_quiescent(std::uint32_t client, std::uint64_t epoch);

  // The collection of `memory` has ended.
  void add(const std::vector<CollectedMemory>& memory);
  bool is_waiting() const { return !waiting_.empty(); }
  // Whether any memory waits for that client.
  bool is_awaited(std::uint32_t client) const;

 private:
  struct Client {
    std::uint64_t asked = 0;      // the epoch of the last request
    std::uint64_t quiescent = 0;  // the epoch of the last answer
  };
  struct Waiting {
    std::uint64_t epoch = 0;
    CollectedMemory memory;
  };

  void ask_all();
  void reclaim_what_may_be();

  std::function<void(std::uint32_t, std::uint64_t)> ask_;
  std::function<void(const CollectedMemory&)> reclaim_;
  std::uint64_t epoch_ = 0;
  std::map<std::uint32_t, Client> clients_;
  std::vector<Waiting> waiting_;
};

}  // namespace falafel::engine
