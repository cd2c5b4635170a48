// The server's clients: connections with their rights, messages, time-outs (Behringer 4.2.3), and the
// fencing of those that are gone.
//
// Fencing is a state of each client, and nobody waits in it: the queue pair goes to error, which ends all that
// the client can read or say; when the flush has come, nothing of it is landing any more, and its regions come
// back. All clients go through it side by side. A flush that does not come within flush_timeout_ns is done
// without where the device drains what is destroyed; elsewhere the client's regions stay in quarantine.
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
  // It is fenced: it reads nothing any more and is heard no more. What it wrote may still be landing.
  std::function<void(std::uint32_t client)> left;
  // Its flush is overdue, so its regions stay out for nobody knows how long.
  std::function<void(std::uint32_t client)> quarantined;
  // Nothing of it is landing any more: its regions may be taken back.
  std::function<void(std::uint32_t client)> gone;
};

// What the server asks a client, which has to answer within the heartbeat time-out. One question of each
// kind is open at a time.
enum class Question : std::uint8_t { quiescence, regions };
inline constexpr std::size_t question_count = 2;

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
  // Into the fields that are about clients.
  void count_into(ServerStatistics& statistics) const;
  std::optional<Breach> last_breach() const { return last_breach_; }
  // Some client is on its way out, and its regions come back in a bounded time.
  bool is_retiring() const;

 private:
  struct Client;

  fabric::Result<std::unique_ptr<Client>> make_client();
  Client* find(std::uint32_t number) const;
  void wait_for_completions();
  bool handle_batch();
  void hear_what_has_come();
  void handle(const fabric::WorkCompletion& completion);
  void handle_received(Client& client, std::uint64_t buffer, std::uint32_t length_bytes);
  void give_up(Client& client);
  void wait_until(std::uint64_t deadline_ns);
  // When something is to be done about a client unless something else happens before.
  std::uint64_t deadline_ns(const Client& client) const;
  std::uint64_t next_deadline_ns() const;
  void act_on(Client& client);
  void fence(Client& client);
  void forget(std::uint32_t number);

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
  std::uint64_t flushes_overdue_ = 0;
  std::optional<Breach> last_breach_;
  std::uint64_t excused_until_ns_ = 0;  // silence before that is nobody's fault
};

}  // namespace falafel::engine
