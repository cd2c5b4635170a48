// One end of a message stream over TCP. On the socket, each message is its length (4 bytes in
// little endian) and its data.
//
// A message is written from the program's buffer and read into it. It is read only when a receive
// request has been posted; until then it waits in the kernels. All work happens in the thread that
// runs the host, so an operation never touches a buffer after the socket was closed.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/stream/completion_queue.h"
#include "fabric/stream/memory.h"

namespace falafel::stream {

// The pending operations of its socket keep it alive.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // Reserves the entries of the completion queues until close(). The options have been checked.
  Connection(std::uint32_t number, const fabric::QueuePairOptions& options,
             const fabric::DeviceAttributes& device);

  std::uint32_t number() const { return number_; }
  fabric::QueuePairState state() const { return state_; }

  // Both sides have agreed on the connection. Nothing may have been posted before.
  void attach(boost::asio::ip::tcp::socket socket);

  fabric::Result<void> post_send(std::span<const fabric::WorkRequest> chain);
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain);
  void move_to_error();
  void close();

  void give_back_places(fabric::Opcode opcode, std::uint32_t places);

 private:
  // A contiguous part of a buffer. It keeps the memory alive.
  struct Piece {
    std::shared_ptr<fabric::MemoryBlock> block;
    std::span<std::byte> bytes;
  };
  struct Send {
    fabric::WorkRequest work;
    std::vector<Piece> pieces;
    std::vector<std::byte> inlined;
  };
  struct Receive {
    std::uint64_t id = 0;
    std::uint64_t length_bytes = 0;
    std::vector<Piece> pieces;
  };

  template <typename Request>
  std::vector<Piece> pieces_of(const Request& request) const;
  void enqueue(const fabric::WorkRequest& work);

  void send_next();
  void finish_send(const boost::system::error_code& error);
  void receive_next();
  void receive_data(const boost::system::error_code& error);
  void finish_receive(const boost::system::error_code& error);

  void complete_send(fabric::CompletionStatus status);
  void complete_receive(fabric::CompletionStatus status, std::uint32_t length_bytes);
  void end(fabric::CompletionStatus status_of_oldest_send);
  void flush();
  void close_socket();

  const std::uint32_t number_;
  const fabric::QueuePairOptions options_;
  const fabric::DeviceAttributes& device_;
  std::shared_ptr<const DomainState> domain_;
  CompletionQueue& send_completions_;
  CompletionQueue& receive_completions_;

  fabric::QueuePairState state_ = fabric::QueuePairState::ready;
  std::optional<boost::asio::ip::tcp::socket> socket_;

  std::deque<Send> sends_;
  bool is_sending_ = false;
  std::array<std::byte, 4> outgoing_length_{};
  std::uint32_t taken_send_places_ = 0;
  std::uint32_t unsignalled_ = 0;  // requests that completed silently since the last completion

  std::deque<Receive> receives_;
  bool is_receiving_ = false;
  std::array<std::byte, 4> incoming_length_{};
  std::uint32_t taken_receive_places_ = 0;
};

}  // namespace falafel::stream
