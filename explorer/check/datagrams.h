// Messages without a connection (UD): each may be lost, or overtaken by later ones. It uses nothing
// but fabric/fabric.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::check {

struct DatagramOptions {
  // A message that finds no free buffer is lost. receive() frees the buffer that it takes from.
  std::uint32_t receive_buffers = 16;
  std::uint32_t buffer_bytes = 256;
};

// One fiber at a time may send, and one may receive.
class Datagrams {
 public:
  struct Received {
    fabric::DatagramAddress source;
    std::vector<std::byte> message;
  };

  // Throws a std::runtime_error with the fabric's message if the device has no datagrams.
  explicit Datagrams(fabric::Host& host, const DatagramOptions& options = {});

  // Others need the host's name and this number to send here.
  std::uint32_t number() const { return queue_pair_->number(); }
  // Throws a std::runtime_error if there is no such host.
  fabric::DatagramAddress resolve(const std::string& host, std::uint32_t number);

  // Waits until the message has left; that says nothing of its arrival. Throws a std::logic_error
  // if it is longer than buffer_bytes.
  void send(const fabric::DatagramAddress& destination, std::span<const std::byte> message);
  Received receive();
  // Nullopt at the deadline.
  std::optional<Received> receive_until(std::uint64_t deadline_ns);

 private:
  void post_receive(std::uint64_t buffer);
  std::uint64_t offset_of(std::uint64_t buffer) const;

  fabric::Host& host_;
  DatagramOptions options_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  // The buffers for receives, each with its header, and one for a send.
  std::shared_ptr<fabric::MemoryBlock> buffers_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::unique_ptr<fabric::CompletionQueue> send_completions_;
  std::unique_ptr<fabric::CompletionQueue> receive_completions_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
};

}  // namespace falafel::check
