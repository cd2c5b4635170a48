// The object behind eventfd: a number that writers add to, and that readers take. Readers wait
// while it is 0, and writers while it would overflow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "simulated_verbs/descriptor.h"
#include "simulated_verbs/tcp_stack.h"

namespace falafel::simulated_verbs {

class EventCounter final : public Descriptor {
 public:
  // `is_semaphore`: readers take 1 each, and not all of it.
  EventCounter(std::shared_ptr<TcpStack> stack, std::uint64_t value, bool is_semaphore)
      : stack_(std::move(stack)), value_(value), is_semaphore_(is_semaphore) {}

  short ready_events() const override;
  long read(std::span<std::byte> destination) override;
  long write(std::span<const std::byte> source) override;

 private:
  static constexpr std::uint64_t most = ~std::uint64_t{0} - 1;

  std::shared_ptr<TcpStack> stack_;
  std::uint64_t value_;
  bool is_semaphore_;
};

}  // namespace falafel::simulated_verbs
