// The shortest way to one-sided verbs: a host that serves a block of memory, and clients that read
// and write it, one request at a time. Programs that need chains, several queue pairs or messages
// use an Endpoint (endpoint.h), as these do.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "explorer/check/endpoint.h"
#include "fabric/fabric.h"

namespace falafel::check {

class MemoryServer {
 public:
  // Allocates zeroed memory and registers it for READ, WRITE and atomics. Throws a
  // std::runtime_error with the fabric's message if it cannot.
  MemoryServer(fabric::Host& host, std::uint64_t size_bytes, std::uint16_t service = usual_service);

  const std::shared_ptr<fabric::MemoryBlock>& memory() const { return memory_; }
  // Accepts clients for ever. Call it when the memory is initialized.
  void serve();

 private:
  Endpoint endpoint_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
};

class RemoteMemory {
 public:
  // Connects, and waits for the server to start. Each call below posts one request and waits until
  // it has completed. All of them throw Disconnected (world.h) if the connection breaks; the
  // request may then have taken effect or not. One fiber at a time may use the object.
  RemoteMemory(fabric::Host& host, const std::string& server,
               std::uint16_t service = usual_service);

  std::uint64_t read(std::uint64_t offset);
  void write(std::uint64_t offset, std::uint64_t value);
  // Returns the previous word, which was replaced if it equals `expected`.
  std::uint64_t compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                 std::uint64_t desired);
  // Returns the previous word.
  std::uint64_t fetch_and_add(std::uint64_t offset, std::uint64_t addend);
  // Up to buffer_bytes.
  void read(std::uint64_t offset, std::span<std::byte> destination);
  void write(std::uint64_t offset, std::span<const std::byte> source);

  static constexpr std::uint32_t buffer_bytes = 4'096;

 private:
  Endpoint endpoint_;
  std::unique_ptr<Connection> connection_;
  RemoteRegion region_;
};

}  // namespace falafel::check
