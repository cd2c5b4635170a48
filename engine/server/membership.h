// The server's clients: connections with their rights, messages, time-outs (Behringer 4.2.3), and the
// fencing of those that are gone.
//
// Rights follow roles, and the network card enforces them: READ of the chunk, READ and atomics on the
// table, WRITE in the client's own regions.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/layout/control_message.h"
#include "engine/local_memory.h"
#include "engine/server/chunk.h"
#include "engine/server/server.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// What the rest of the server does about clients.
struct MembershipEvents {
  std::function<void(std::uint32_t client)> joined;
  std::function<void(std::uint32_t client, const ControlMessage&)> message;
  // Its memory may be taken back, and it does not count for reclamation any more.
  std::function<void(std::uint32_t client)> gone;
};

// What the server asks a client, which has to answer within the heartbeat time-out. One question of each
// kind is open at a time.
enum class Question : std::uint8_t { quiescence };
inline constexpr std::size_t question_count = 1;

class Membership {
 public:
  Membership(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
             fabric::CompletionQueue& completions, MembershipEvents events);
  ~Membership();

  static std::uint32_t completions_per_client();

  // A fiber that the network's request has reached.
  void accept(fabric::ConnectionRequest& request);
  // Fibers: messages, and time-outs.
  void receive_messages();
  void watch();

  // To a client, if it is still there.
  void send(std::uint32_t client, const ControlMessage& message);
  // The same for a question. Silence about it counts as silence, whatever else the client says: it is
  // given up unless answered() is called within the heartbeat time-out.
  void ask(std::uint32_t client, Question question, const ControlMessage& message);
  void answered(std::uint32_t client, Question question);
  // Gives up a client, if it is still there, that did what no client does.
  void expel(std::uint32_t client, Breach breach);
  // The right to write in a region, and its end. The remote key. Errors: out_of_memory.
  fabric::Result<std::uint32_t> allow_region(std::uint32_t client, std::uint32_t region);
  void revoke_region(std::uint32_t client, std::uint32_t region);

  bool is_connected(std::uint32_t client) const;
  std::uint64_t count() const { return clients_.size(); }
  // Without what others know of them (ClientInspection::awaited).
  std::vector<ClientInspection> clients() const;
  std::uint64_t fenced_count() const { return fenced_; }
  std::uint64_t expelled_count() const { return expelled_; }
  std::optional<Breach> last_breach() const { return last_breach_; }
  bool is_retiring() const { return retiring_; }

 private:
  struct Client;

  fabric::Result<std::unique_ptr<Client>> make_client();
  void wait_for_completions();
  void post_receives(Client& client, std::uint64_t first, std::uint64_t count);
  void pump(Client& client);
  void handle(const fabric::WorkCompletion& completion);
  void handle_received(Client& client, std::uint64_t buffer, std::uint32_t length_bytes);
  void give_up(Client& client);
  void retire(std::uint32_t number);
  // When a client that says nothing is given up.
  std::uint64_t deadline_ns(const Client& client) const;
  std::uint64_t next_deadline_ns() const;

  fabric::Host& host_;
  const Chunk& chunk_;
  const ServerOptions& options_;
  fabric::CompletionQueue& completions_;
  MembershipEvents events_;
  std::map<std::uint32_t, std::unique_ptr<Client>> clients_;
  std::unique_ptr<fabric::Event> changed_;  // somebody joined, failed or was drained
  std::uint32_t next_number_ = 1;
  std::uint64_t fenced_ = 0;
  std::uint64_t expelled_ = 0;
  std::optional<Breach> last_breach_;
  bool retiring_ = false;
};

}  // namespace falafel::engine
