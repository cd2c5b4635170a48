// The stores of a host's processor that have not reached memory yet (option store_buffers;
// docs/simulator.md, "Store buffers").
//
// The processor is that of x86-TSO (S. Owens, S. Sarkar, P. Sewell: "A Better x86 Memory Model:
// x86-TSO", TPHOLs 2009). A store enters the buffer, and the processor continues. The stores reach
// memory one by one, in their order. Until then, only the processor itself sees them. Posting a
// chain ends with a store to the device, its doorbell, which waits its turn too: the device learns
// of the chain after all earlier stores, but later loads of the processor may come first (A. Raad
// and others model posting in the same way, in RDMA on TSO). Whatever takes a locked instruction or
// a system call drains the buffer.
//
// The buffer is an actor. One step moves its oldest entry. A host has one, because all fibers of a
// host run on one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>

#include "fabric/fabric.h"
#include "fabric/sim/run/actor.h"
#include "fabric/sim/touches.h"

namespace falafel::sim {

struct World;

// A memory block, as the stores to it know it.
class StoredMemory {
 public:
  virtual std::byte* data() const = 0;
  // A store of that fiber reaches memory.
  virtual void change_word(fabric::FiberId fiber, std::uint64_t offset, std::uint64_t value) = 0;
  virtual void change_bytes(fabric::FiberId fiber, std::uint64_t offset,
                            std::span<const std::byte> source) = 0;

 protected:
  ~StoredMemory() = default;
};

// A queue pair, as its doorbell knows it.
class DoorbellOwner {
 public:
  // The device learns of the requests before that place in the send queue.
  virtual void hear_doorbell(std::uint64_t end_place) = 0;

 protected:
  ~DoorbellOwner() = default;
};

class StoreBuffer final : public Actor {
 public:
  // `host`: its index. The name must outlive the buffer.
  StoreBuffer(World& world, std::uint32_t host, const std::string& host_name);

  bool empty() const { return entries_.empty(); }

  // A fiber stores an aligned word.
  void store(StoredMemory& block, fabric::FiberId fiber, std::uint64_t offset, std::uint64_t value);
  // A fiber stores a range, word by word in ascending order.
  void write(StoredMemory& block, fabric::FiberId fiber, std::uint64_t offset,
             std::span<const std::byte> source);
  // A fiber posts. The queue pair learns of its requests before that place.
  void ring_doorbell(DoorbellOwner& queue_pair, std::uint64_t end_place);

  // Turns `seen`, the memory of a range, into what the processor sees of it.
  void show_own_stores(const std::byte* begin, std::span<std::byte> seen) const;

  void drain() { drain(entries_.size()); }
  // Drains the stores to the block, and what precedes them.
  void drain_stores_to(const StoredMemory& block);

  void step() override { drain(1); }
  std::string describe() const override;

 private:
  // Either a store of at most one word or, if there is a queue pair, a doorbell.
  struct Entry {
    fabric::FiberId fiber = 0;
    StoredMemory* block = nullptr;
    std::uint64_t offset = 0;
    std::uint8_t length_bytes = 0;
    bool is_word = false;  // of store(), not of write()
    std::array<std::byte, fabric::word_bytes> bytes{};
    DoorbellOwner* queue_pair = nullptr;
    std::uint64_t end_place = 0;
  };

  void append(const Entry& entry);
  void drain(std::size_t count);
  void apply(const Entry& entry);
  void touch(std::uint64_t entry_number) const;

  World& world_;
  std::uint32_t host_;
  const std::string& host_name_;
  std::deque<Entry> entries_;
  std::uint64_t drained_ = 0;  // the number of the oldest entry
};

}  // namespace falafel::sim
