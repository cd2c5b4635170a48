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
#include "fabric/sim/scheduler.h"
#include "fabric/sim/touches.h"

namespace falafel::sim {

class Host;
class MemoryBlock;
class QueuePairActor;
struct Request;
struct World;

class StoreBuffer final : public Actor {
 public:
  StoreBuffer(World& world, const Host& host);

  bool empty() const { return entries_.empty(); }

  // The running fiber stores an aligned word.
  void store(MemoryBlock& block, std::uint64_t offset, std::uint64_t value);
  // The running fiber stores a range, word by word in ascending order.
  void write(MemoryBlock& block, std::uint64_t offset, std::span<const std::byte> source);
  // The running fiber posts. The queue pair learns of its requests before that place.
  void ring_doorbell(QueuePairActor& queue_pair, std::uint64_t end_place);

  // Turns `seen`, the memory of a range, into what the processor sees of it.
  void show_own_stores(const std::byte* begin, std::span<std::byte> seen) const;

  void drain() { drain(entries_.size()); }
  // Drains the stores to the block, and what precedes them.
  void drain_stores_to(const MemoryBlock& block);

  void step() override { drain(1); }
  std::string describe() const override;

 private:
  // Either a store of at most one word or, if there is a queue pair, a doorbell.
  struct Entry {
    fabric::FiberId fiber = 0;
    MemoryBlock* block = nullptr;
    std::uint64_t offset = 0;
    std::uint8_t length_bytes = 0;
    bool is_word = false;  // of store(), not of write()
    std::array<std::byte, fabric::word_bytes> bytes{};
    QueuePairActor* queue_pair = nullptr;
    std::uint64_t end_place = 0;
  };

  void append(const Entry& entry);
  void drain(std::size_t count);
  void apply(const Entry& entry);
  void touch(std::uint64_t entry_number) const;

  World& world_;
  const Host& host_;
  std::deque<Entry> entries_;
  std::uint64_t drained_ = 0;  // the number of the oldest entry
};

// Copies the data of a request that is being posted: the processor copies, and sees its own stores.
void take_inlined_payload(World& world, Request& request, const Host& host);

}  // namespace falafel::sim
