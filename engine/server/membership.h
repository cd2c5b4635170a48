// The server's clients: their connections and access rights, messages, time-outs (Behringer 4.2.3),
// and the fencing of clients that left or failed.
//
// Fencing is a state of each client and does not block any fiber. The server moves the queue pair
// to the error state, which prevents all further reads and messages of the client. When the flush
// completes, all of the client's writes have landed, and the server reclaims its regions. All
// clients pass through this state independently. If the flush does not complete within
// flush_timeout_ns, the server skips it if the device drains what is destroyed; otherwise the
// client's regions stay in quarantine.
//
// Access rights follow from roles, and the network card enforces them: READ of the chunk, READ and
// atomics on the table, WRITE in the client's own regions.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/layout/control_message.h"
#include "engine/local_memory.h"
#include "engine/server/chunk.h"
#include "engine/server/server_inspection.h"
#include "engine/server/server_options.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// The part of the server that is told of clients.
class ClientEvents {
 public:
  virtual void on_joined(std::uint32_t client) = 0;
  virtual void on_message(std::uint32_t client, const ControlMessage& message) = 0;
  // The client is fenced: it can no longer read or send messages. Its writes may still be landing.
  virtual void on_left(std::uint32_t client) = 0;
  // The client's flush is overdue, so its regions remain unavailable for an unknown time.
  virtual void on_quarantined(std::uint32_t client) = 0;
  // All of the client's writes have landed, so its regions may be reclaimed.
  virtual void on_gone(std::uint32_t client) = 0;

 protected:
  ~ClientEvents() = default;
};

// Requests of the server that the client must answer within the heartbeat time-out; for the end of
// its operations, which may wait for the server, within three. At most one of each kind is pending.
enum class Question : std::uint8_t { quiescence, regions, end };
inline constexpr std::size_t question_count = 3;

class Membership {
 public:
  Membership(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
             fabric::CompletionQueue& completions, ClientEvents& events);
  ~Membership();

  static std::uint32_t completions_per_client();
  // Returns a message about an attribute of the device that is too small for a client's connection.
  static std::optional<std::string> find_unmet_requirement(const fabric::DeviceAttributes& device);

  // Runs on the fiber that received the connection request.
  void accept(fabric::ConnectionRequest& request);
  // Main loops of the fibers for messages and for time-outs.
  void receive_messages();
  void watch();

  // Sends a message to a client if it is still connected.
  void send(std::uint32_t client, const ControlMessage& message);
  // Sends a request that the client must answer. If answered() is not called within the heartbeat
  // time-out, the server gives up on the client, even if it sends other messages.
  void ask(std::uint32_t client, Question question, const ControlMessage& message);
  void answered(std::uint32_t client, Question question);
  // Gives up on a client that violated the protocol, if it is still connected.
  void expel(std::uint32_t client, Breach breach);
  // Grant and revoke the right to write to a region. Returns the remote key. Errors: out_of_memory.
  fabric::Result<std::uint32_t> allow_region(std::uint32_t client, std::uint32_t region);
  void revoke_region(std::uint32_t client, std::uint32_t region);

  bool is_connected(std::uint32_t client) const;
  std::uint64_t count() const { return clients_.size(); }
  // Does not set ClientInspection::awaited, which other parts know.
  std::vector<ClientInspection> clients() const;
  // Fills the fields that concern clients.
  void count_into(ServerStatistics& statistics) const;
  std::optional<Breach> last_breach() const { return last_breach_; }
  // Returns whether the server is fencing a client whose regions return within a bounded time.
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
  // The time at which the server must act on this client unless another event comes first.
  std::uint64_t deadline_ns(const Client& client) const;
  std::uint64_t next_deadline_ns() const;
  void act_on(Client& client);
  void fence(Client& client);
  void forget(std::uint32_t number);

  fabric::Host& host_;
  const Chunk& chunk_;
  const ServerOptions& options_;
  fabric::CompletionQueue& completions_;
  ClientEvents& events_;
  std::map<std::uint32_t, std::unique_ptr<Client>> clients_;
  std::unique_ptr<fabric::Event> changed_;  // a client joined, failed or was drained
  std::uint32_t next_number_ = 1;
  std::uint64_t fenced_ = 0;
  std::uint64_t expelled_ = 0;
  std::uint64_t flushes_overdue_ = 0;
  std::optional<Breach> last_breach_;
  std::uint64_t excused_until_ns_ = 0;  // clients are not responsible for silence before this time
};

}  // namespace falafel::engine
