// The program's handle on its end of a message stream.
#pragma once

#include <memory>

#include "fabric/stream/connection.h"

namespace falafel::stream {

class QueuePair final : public fabric::QueuePair {
 public:
  explicit QueuePair(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~QueuePair() override { connection_->close(); }
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  std::uint32_t number() const override { return connection_->number(); }
  fabric::Transport transport() const override { return fabric::Transport::message_stream; }
  fabric::QueuePairState state() const override { return connection_->state(); }
  fabric::Result<void> post_send(std::span<const fabric::WorkRequest> chain) override {
    return connection_->post_send(chain);
  }
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain) override {
    return connection_->post_receive(chain);
  }
  void move_to_error() override { connection_->move_to_error(); }
  void close() override { connection_->close(); }
  bool places_in_address_order() const override { return false; }  // there are no WRITEs
  bool wait_until_peer_closed(std::uint64_t /*deadline_ns*/) override {
    FALAFEL_ASSERT(false,
                   "a message stream does not hear that its peer has closed; the end of the "
                   "stream flushes its receive requests");
  }

  void attach(boost::asio::ip::tcp::socket socket) { connection_->attach(std::move(socket)); }

 private:
  std::shared_ptr<Connection> connection_;
};

}  // namespace falafel::stream
