// The operations of a batch (Client::run_batch).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "engine/client/condition.h"
#include "engine/client/results.h"
#include "engine/client/value_buffer.h"

namespace falafel::engine {

class Client;
struct OperationContext;

// Offers what Client offers to the functions that run_batch() calls. Valid only during that call,
// and only for the fibers on which these functions run.
class Batch {
 public:
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  GetResult get(std::span<const std::byte> key);
  GetResult get(std::span<const std::byte> key,
                const std::function<void(std::span<const std::byte> value)>& use);
  GetResult get(std::span<const std::byte> key, const ValueBuffer& buffer);
  SetResult set(std::span<const std::byte> key, std::span<const std::byte> value) {
    return set(key, value, 0);
  }
  SetResult set(std::span<const std::byte> key, std::span<const std::byte> value,
                std::uint64_t time_to_live_ns);
  SetResult compare_and_set(std::span<const std::byte> key, const Condition& condition,
                            std::span<const std::byte> value,
                            const std::optional<std::uint64_t>& time_to_live_ns);
  DeleteResult remove(std::span<const std::byte> key);

 private:
  friend class Client;
  explicit Batch(const OperationContext& context) : context_(context) {}

  const OperationContext& context_;
};

}  // namespace falafel::engine
