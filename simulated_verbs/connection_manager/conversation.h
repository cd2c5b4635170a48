// The messages of one connection between two connection managers, over a TCP connection of the
// simulator. A fiber of its own does what the kernel does: it sends the request until an answer
// arrives, and hears what the other side sends.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"
#include "simulated_verbs/connection_manager/message.h"
#include "simulated_verbs/tcp_connection.h"
#include "simulated_verbs/tcp_stack.h"

namespace falafel::simulated_verbs {

class Conversation;
struct Identifier;

// Its functions do not wait.
class ConversationOwner {
 public:
  virtual ~ConversationOwner() = default;
  virtual void hear(Conversation& conversation, const Message& message) = 0;
  // No more messages will arrive. Nobody knows why, unless the other side has said so.
  virtual void hear_silence(Conversation& conversation, bool peer_has_said_so) = 0;
  // The connection is over, and none of its packets is under way.
  virtual void hear_end_of_time_wait(Conversation& conversation) = 0;
};

class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  // The service at which connection managers listen: no socket has port 0.
  static constexpr std::uint16_t service = 0;

  // Sends the request.
  static std::shared_ptr<Conversation> request(std::weak_ptr<ConversationOwner> owner,
                                               std::shared_ptr<TcpStack> stack,
                                               const Endpoint& local, const Endpoint& remote,
                                               const Message& message);
  // Somebody wants to send a request.
  static std::shared_ptr<Conversation> answer(std::weak_ptr<ConversationOwner> owner,
                                              std::shared_ptr<TcpStack> stack,
                                              std::shared_ptr<TcpConnection> connection);

  Conversation(std::weak_ptr<ConversationOwner> owner, std::shared_ptr<TcpStack> stack,
               const Endpoint& local, const Endpoint& remote);

  const Endpoint& local() const { return local_; }
  const Endpoint& remote() const { return remote_; }
  // Returns false if the other side is known not to hear it.
  bool send(const Message& message);
  // The connection is over on this side: hears no more messages, but the end of its time.
  void start_time_wait();
  // Delivers what has been sent, and hears nothing any more.
  void close();
  // The process ends with its host.
  void abandon();

  Identifier* identifier = nullptr;  // null if it is destroyed, or not made yet

 private:
  enum class Received : std::uint8_t { message, nothing, end, failure };

  void start(const char* name, void (Conversation::*body)());
  void send_request();
  // False if the other side can be asked again.
  bool ask_once();
  bool give_up_after(int error);
  void wait_before_next_try();
  Received receive(Message& message, std::uint64_t deadline_ns);
  void serve();
  void hear(const Message& message);
  void hear_silence(bool peer_has_said_so = false);

  std::weak_ptr<ConversationOwner> owner_;
  std::shared_ptr<TcpStack> stack_;
  Endpoint local_;
  Endpoint remote_;
  Message request_;
  std::shared_ptr<TcpConnection> connection_;
  fabric::FiberId fiber_ = 0;
  bool is_in_time_wait_ = false;
  bool is_closed_ = false;
  std::uint64_t pause_ns_;
  bool is_starting_ = false;
  int refusals_ = 0;
};

}  // namespace falafel::simulated_verbs
