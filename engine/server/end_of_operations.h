// Proves that operations have ended. For a client that requests it, the server asks all clients,
// and answers when each of them has reported that its operations from before the question have
// ended, or is gone. A change of a cluster needs this (engine/placement).
#pragma once

#include <cstdint>
#include <map>

#include "engine/server/client_epochs.h"
#include "engine/server/membership.h"

namespace falafel::engine {

class EndOfOperations {
 public:
  // `membership` sends the questions, and the answers to requests.
  explicit EndOfOperations(Membership& membership)
      : membership_(membership), epochs_(membership, Question::end, MessageKind::ask_for_end) {}

  void add_client(std::uint32_t client) { epochs_.add_client(client); }
  // The client is fenced, but its requests may still be landing.
  void drop_request(std::uint32_t client) { requests_.erase(client); }
  // Nothing of the client is landing any more.
  void remove_client(std::uint32_t client);
  // Returns false if the client has a pending request.
  bool request(std::uint32_t client);
  // The client was asked about that epoch and has not reported.
  bool is_answer(std::uint32_t client, std::uint64_t epoch) const {
    return epochs_.is_answer(client, epoch);
  }
  // Requires an answer. May ask the client again.
  void on_ended(std::uint32_t client, std::uint64_t epoch);

 private:
  void answer_what_may_be();

  Membership& membership_;
  ClientEpochs epochs_;
  std::map<std::uint32_t, std::uint64_t> requests_;  // epochs, by client
};

}  // namespace falafel::engine
