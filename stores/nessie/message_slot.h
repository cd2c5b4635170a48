// A slot for messages: the WRITEs that bring one, and the owner, who notices it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "fabric/fabric.h"
#include "stores/nessie/message.h"

namespace falafel::nessie {

// A slot in the memory of its receiver. One message at a time is in it.
class MessageSlot {
 public:
  MessageSlot(fabric::Host& host, std::shared_ptr<fabric::MemoryBlock> block, std::uint64_t offset,
              const Options& options);

  // Waits until a message of another sequence than the last one has arrived. nullopt at the
  // deadline, or where a cancelled fiber may end.
  std::optional<Message> receive(std::uint64_t deadline_ns);

  // The number of times that a part of a message was there and the rest was not.
  std::uint64_t incomplete_looks() const { return incomplete_looks_; }

 private:
  std::optional<Message> look() const;
  bool has_arrived(const MessageHeader& header, std::uint64_t tail_offset) const;
  bool wait_for_more(std::uint64_t deadline_ns, std::uint64_t longest_wait_ns);
  MessageHeader load_header() const;

  fabric::Host& host_;
  std::shared_ptr<fabric::MemoryBlock> block_;
  std::uint64_t offset_;
  MessageLayout layout_;
  Arrival arrival_;
  std::uint32_t seen_ = 0;  // the sequence of the last message
  std::uint64_t incomplete_looks_ = 0;
};

// The WRITEs of an encoded message, as one chain.
class MessageWrites {
 public:
  MessageWrites(Arrival arrival, std::uint64_t length_bytes, fabric::MemoryAddress local,
                fabric::MemoryAddress remote);
  std::span<const fabric::WorkRequest> chain() const { return std::span(writes_).first(count_); }

  static constexpr std::uint32_t most_writes = 2;

 private:
  std::array<fabric::WorkRequest, most_writes> writes_{};
  std::size_t count_ = 0;
};

// Stores an encoded message into a slot of this host.
void store_message(fabric::MemoryBlock& block, std::uint64_t offset,
                   std::span<const std::byte> bytes, Arrival arrival);

}  // namespace falafel::nessie
