// One end of a TCP connection, over a message stream of the fabric. A fiber of its own does what
// the kernel does for it: it connects, takes what arrives, and, after the program has closed its
// socket, delivers what the program has sent, and waits for the peer to close.
//
// A segment is a message. What the program sends in one call arrives as a whole if it fits one
// segment, and otherwise segment by segment. As in TCP, the client confirms that it has the answer
// to its request, each side sends an end (FIN), and the other side acknowledges it. A stream that
// ends without an end was reset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fabric/fabric.h"
#include "simulated_verbs/tcp_stack.h"

namespace falafel::simulated_verbs {

class TcpConnection : public std::enable_shared_from_this<TcpConnection> {
 public:
  // Starts to connect, and returns before the peer has answered.
  static std::shared_ptr<TcpConnection> connect(std::shared_ptr<TcpStack> stack,
                                                const Endpoint& local, const Endpoint& remote);
  // Null if the host has no memory for it, or if the peer is no socket.
  static std::shared_ptr<TcpConnection> accept(std::shared_ptr<TcpStack> stack,
                                               const Endpoint& local,
                                               fabric::ConnectionRequest& request);

  TcpConnection(std::shared_ptr<TcpStack> stack, const Endpoint& local, const Endpoint& remote);

  const Endpoint& local() const { return local_; }
  const Endpoint& remote() const { return remote_; }
  bool is_connecting() const { return state_ == State::connecting; }
  bool was_established() const { return was_established_; }
  // The client knows that it is connected, so it has not given up.
  bool is_confirmed() const { return is_confirmed_; }
  bool has_ended() const { return state_ == State::ended; }
  std::size_t arrived_bytes() const { return arrived_.size() - taken_; }

  // The program's calls, which may wait. A call that does not block has the deadline 0.
  SystemResult receive(std::span<std::byte> destination, int flags, std::uint64_t deadline_ns);
  SystemResult send(std::span<const std::byte> source, std::uint64_t deadline_ns);
  SystemResult shut_down(int how);
  // Takes the error that no call has reported yet: an errno, or 0.
  int take_error() { return std::exchange(error_, 0); }
  short ready_events() const;

  // The program has closed its last descriptor. Does not wait.
  void close();
  void reset();
  // The process ends with its host.
  void abandon();

 private:
  static constexpr std::uint32_t segment_bytes = 1448;  // what TCP carries in an Ethernet frame
  static constexpr std::uint32_t message_bytes = 1 + segment_bytes;
  // The program leaves these slots to the kernel, which sends three messages of its own.
  static constexpr std::uint32_t kernel_send_slots = 3;
  // Linux opens the receive window no further without tuning.
  static constexpr std::size_t receive_buffer_bytes = 65'536;

  enum class State : std::uint8_t { connecting, established, ended };
  // The first byte of a message.
  enum class Segment : std::uint8_t { confirmation, data, end, acknowledgement_of_end };

  fabric::Result<void> allocate();
  fabric::QueuePairOptions options();
  void start(void (TcpConnection::*body)());
  void connect_and_serve();
  fabric::Result<fabric::Connection> request_connection();
  void establish(std::unique_ptr<fabric::QueuePair> queue_pair);
  void serve();
  void handle(const fabric::WorkCompletion& completion);
  void handle_segment(Segment kind, std::span<const std::byte> data);
  void post_receives();
  void post_segment(Segment kind, std::span<const std::byte> data);
  void finish();
  void end(int error);
  // Both sides send no more, and the peer has all that this side has sent.
  bool is_over() const { return end_is_acknowledged_ && peer_is_finished_ && pending_sends_ == 0; }
  SystemResult take(std::span<std::byte> destination, bool peeks);
  // A call that sends, or receives, need not wait.
  bool may_send() const;
  bool may_receive(std::size_t wanted_bytes = 1) const;
  std::span<std::byte> bytes_of(std::uint32_t slot) const;
  fabric::MemoryAddress address_of(std::uint32_t slot) const;

  std::shared_ptr<TcpStack> stack_;
  Endpoint local_;
  Endpoint remote_;
  fabric::FiberId fiber_ = 0;
  State state_ = State::connecting;
  bool was_established_ = false;
  bool is_confirmed_ = false;
  bool is_finished_ = false;          // this side sends no more
  bool end_is_acknowledged_ = false;  // the peer has all that this side has sent
  bool peer_is_finished_ = false;     // the peer sends no more, and all of it has arrived
  bool reads_no_more_ = false;
  bool is_closed_ = false;  // by the program
  int error_ = 0;
  std::shared_ptr<fabric::MemoryBlock> memory_;  // slots for sending, then slots for receiving
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  std::vector<std::uint32_t> free_send_slots_;
  std::vector<std::uint32_t> free_receive_slots_;
  std::uint32_t pending_sends_ = 0;
  std::vector<std::byte> arrived_;
  std::size_t taken_ = 0;  // of arrived_
};

}  // namespace falafel::simulated_verbs
