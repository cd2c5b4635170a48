// Epochs that all clients confirm. A collection begins one at its end, for example, to learn when
// no client has an operation from before. The server sends the epoch to each client in a question,
// and the client confirms it. A client that is removed no longer counts.
#pragma once

#include <cstdint>
#include <map>

#include "engine/layout/control_message.h"
#include "engine/server/membership.h"

namespace falafel::engine {

class ClientEpochs {
 public:
  // The question, and the kind of message that asks it.
  ClientEpochs(Membership& membership, Question question, MessageKind message)
      : membership_(membership), question_(question), message_(message) {}

  void add_client(std::uint32_t client);
  void remove_client(std::uint32_t client);
  // Begins an epoch and asks the clients for it. Returns it.
  std::uint64_t begin();
  // The client was asked about that epoch and has not confirmed it.
  bool is_answer(std::uint32_t client, std::uint64_t epoch) const;
  // The client was never asked about that epoch.
  bool is_unheard_of(std::uint32_t client, std::uint64_t epoch) const;
  // The client confirms all epochs up to that one. Ignored if the client was never asked about it.
  void confirm(std::uint32_t client, std::uint64_t epoch);

  bool lacks(std::uint32_t client, std::uint64_t epoch) const;
  // All clients have confirmed the epochs up to this one.
  std::uint64_t last_confirmed() const;

 private:
  struct Client {
    std::uint64_t asked = 0;      // the epoch of the last question
    std::uint64_t confirmed = 0;  // the epoch of the last answer
  };

  void ask_all();

  Membership& membership_;
  const Question question_;
  const MessageKind message_;
  std::uint64_t epoch_ = 0;
  std::map<std::uint32_t, Client> clients_;
};

}  // namespace falafel::engine
