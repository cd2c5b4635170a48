// Epoch reclamation: when collected memory may be used again.
//
// No entry points into memory that has been collected, but an operation that began before may remember
// such an entry. So the memory waits until every client that was connected when the collection ended has
// said that it has no such operation left (or is gone, and fenced). The server asks: each collection
// begins an epoch, and a client answers with the epoch that it was last asked about.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace falafel::engine {

// What waits: a region, or a mature space.
struct CollectedMemory {
  enum class Kind : std::uint8_t { region, mature_space } kind = Kind::region;
  std::uint32_t index = 0;
};

class Reclamation {
 public:
  // `ask(client, epoch)`: puts the question. `reclaim`: the memory may be used again.
  Reclamation(std::function<void(std::uint32_t, std::uint64_t)> ask,
              std::function<void(const CollectedMemory&)> reclaim);

  void add_client(std::uint32_t client);
  void remove_client(std::uint32_t client);  // it is fenced
  // Whether the client was asked about that epoch, and has not answered yet.
  bool is_answer(std::uint32_t client, std::uint64_t epoch) const;
  // Whether the client speaks of a question that was not put to it.
  bool is_unheard_of(std::uint32_t client, std::uint64_t epoch) const;
  void on_quiescent(std::uint32_t client, std::uint64_t epoch);

  // The collection of `memory` has ended.
  void add(const std::vector<CollectedMemory>& memory);
  bool is_waiting() const { return !waiting_.empty(); }
  // Whether some memory waits for that client.
  bool is_awaited(std::uint32_t client) const;

 private:
  struct Client {
    std::uint64_t asked = 0;      // the epoch of the last question
    std::uint64_t quiescent = 0;  // ... and of the last answer
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
