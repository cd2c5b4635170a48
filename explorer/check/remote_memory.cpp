#include "explorer/check/remote_memory.h"

#include <algorithm>

#include "explorer/check/chain.h"

namespace falafel::check {
namespace {

constexpr const char* region_name = "memory";

}  // namespace

MemoryServer::MemoryServer(fabric::Host& host, std::uint64_t size_bytes, std::uint16_t service)
    : endpoint_(host, service), memory_(endpoint_.share(region_name, size_bytes)) {}

void MemoryServer::serve() {
  endpoint_.serve({.send_buffers = 1, .receive_buffers = 0, .buffer_bytes = fabric::word_bytes});
}

RemoteMemory::RemoteMemory(fabric::Host& host, const std::string& server, std::uint16_t service)
    : endpoint_(host),
      connection_(endpoint_.connect(
          server, {.send_buffers = 1, .receive_buffers = 0, .buffer_bytes = buffer_bytes},
          service)),
      region_(connection_->region(region_name)) {}

std::uint64_t RemoteMemory::read(std::uint64_t offset) {
  return connection_->read(region_, offset);
}

void RemoteMemory::write(std::uint64_t offset, std::uint64_t value) {
  connection_->write(region_, offset, value);
}

std::uint64_t RemoteMemory::compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                             std::uint64_t desired) {
  return connection_->compare_and_swap(region_, offset, expected, desired);
}

std::uint64_t RemoteMemory::fetch_and_add(std::uint64_t offset, std::uint64_t addend) {
  return connection_->fetch_and_add(region_, offset, addend);
}

void RemoteMemory::read(std::uint64_t offset, std::span<std::byte> destination) {
  const Outcome outcome = connection_->execute(
      Chain().read(region_, offset, static_cast<std::uint32_t>(destination.size())));
  std::ranges::copy(outcome.bytes(0), destination.begin());
}

void RemoteMemory::write(std::uint64_t offset, std::span<const std::byte> source) {
  connection_->execute(Chain().write(region_, offset, source));
}

}  // namespace falafel::check
