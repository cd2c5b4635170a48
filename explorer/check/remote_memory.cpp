#include "explorer/check/remote_memory.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "explorer/check/connecting.h"
#include "explorer/check/world.h"

namespace falafel::check {
namespace {

constexpr fabric::Access full_access{
    .local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true};
constexpr std::uint32_t queue_length = 16;

std::uint32_t key_in(const fabric::PrivateData& private_data) {
  std::uint32_t key = 0;
  if (private_data.size() < sizeof key) {
    throw std::runtime_error("the host that was connected to is not a MemoryServer");
  }
  std::memcpy(&key, private_data.data(), sizeof key);
  return key;
}

}  // namespace

MemoryServer::MemoryServer(fabric::Host& host, std::uint64_t size_bytes, std::uint16_t service)
    : memory_(value_of(host.allocate_memory(size_bytes), "allocate_memory")),
      protection_domain_(host.device(0).create_protection_domain()),
      region_(value_of(protection_domain_->register_memory(memory_, 0, size_bytes, full_access),
                       "register_memory")),
      completions_(value_of(host.device(0).create_completion_queue(1'024 * queue_length),
                            "create_completion_queue")),
      listener_(value_of(host.device(0).listen(service), "listen")) {}

void MemoryServer::serve() {
  while (true) {
    const auto request = listener_->accept(fabric::never_ns);
    if (request == nullptr) return;
    const std::uint32_t key = region_->remote_key();
    fabric::PrivateData private_data(sizeof key);
    std::memcpy(private_data.data(), &key, sizeof key);
    auto queue_pair = request->accept({.protection_domain = protection_domain_.get(),
                                       .send_completions = completions_.get(),
                                       .receive_completions = completions_.get(),
                                       .max_send_requests = 1,
                                       .max_receive_requests = 1},
                                      std::move(private_data));
    if (queue_pair) queue_pairs_.push_back(std::move(*queue_pair));
  }
}

RemoteMemory::RemoteMemory(fabric::Host& host, const std::string& server, std::uint16_t service)
    : protection_domain_(host.device(0).create_protection_domain()),
      buffer_(value_of(host.allocate_memory(buffer_bytes), "allocate_memory")),
      region_(value_of(
          protection_domain_->register_memory(buffer_, 0, buffer_bytes, {.local_write = true}),
          "register_memory")),
      completions_(value_of(host.device(0).create_completion_queue(2 * queue_length),
                            "create_completion_queue")) {
  fabric::Connection connection = connect_patiently(host, {.host = server, .service = service},
                                                    {.protection_domain = protection_domain_.get(),
                                                     .send_completions = completions_.get(),
                                                     .receive_completions = completions_.get(),
                                                     .max_send_requests = queue_length,
                                                     .max_receive_requests = 1},
                                                    {});
  remote_key_ = key_in(connection.private_data);
  queue_pair_ = std::move(connection.queue_pair);
}

void RemoteMemory::execute(fabric::WorkRequest request) {
  request.local = {.key = region_->local_key(), .offset = 0};
  request.remote.key = remote_key_;
  const auto posted = queue_pair_->post_send(std::span(&request, 1));
  if (!posted) throw std::runtime_error(fmt::format("post_send: {}", posted.error().detail));
  completions_->wait(fabric::never_ns);
  std::array<fabric::WorkCompletion, 1> completion{};
  completions_->poll(completion);
  if (completion[0].status == fabric::CompletionStatus::success) return;
  if (completion[0].status == fabric::CompletionStatus::remote_access_error) {
    throw std::out_of_range(fmt::format("{} of {} bytes at offset {} is outside of the memory",
                                        to_string(request.opcode), request.length_bytes,
                                        request.remote.offset));
  }
  throw Disconnected();
}

std::uint64_t RemoteMemory::read(std::uint64_t offset) {
  std::uint64_t value = 0;
  read(offset, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

void RemoteMemory::write(std::uint64_t offset, std::uint64_t value) {
  write(offset, std::as_bytes(std::span(&value, 1)));
}

std::uint64_t RemoteMemory::compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                             std::uint64_t desired) {
  execute({.opcode = fabric::Opcode::compare_and_swap,
           .length_bytes = fabric::word_bytes,
           .remote = {.key = 0, .offset = offset},
           .compare = expected,
           .swap_or_add = desired});
  return word(buffer_, 0);
}

std::uint64_t RemoteMemory::fetch_and_add(std::uint64_t offset, std::uint64_t addend) {
  execute({.opcode = fabric::Opcode::fetch_and_add,
           .length_bytes = fabric::word_bytes,
           .remote = {.key = 0, .offset = offset},
           .swap_or_add = addend});
  return word(buffer_, 0);
}

void RemoteMemory::read(std::uint64_t offset, std::span<std::byte> destination) {
  if (destination.size() > buffer_bytes) {
    throw std::out_of_range(
        fmt::format("a read of {} bytes is longer than {}", destination.size(), buffer_bytes));
  }
  execute({.opcode = fabric::Opcode::read,
           .length_bytes = static_cast<std::uint32_t>(destination.size()),
           .remote = {.key = 0, .offset = offset}});
  std::memcpy(destination.data(), buffer_->bytes().data(), destination.size());
}

void RemoteMemory::write(std::uint64_t offset, std::span<const std::byte> source) {
  if (source.size() > buffer_bytes) {
    throw std::out_of_range(
        fmt::format("a write of {} bytes is longer than {}", source.size(), buffer_bytes));
  }
  std::memcpy(buffer_->bytes().data(), source.data(), source.size());
  execute({.opcode = fabric::Opcode::write,
           .length_bytes = static_cast<std::uint32_t>(source.size()),
           .remote = {.key = 0, .offset = offset}});
}

}  // namespace falafel::check
