// How the server reads containers before it concludes anything from them.
//
// The processor need not see what a client wrote although it sees the entry behind it (rule 10 of
// docs/fabric.md): it may see older bytes, even an older container that verifies. It sees all of a region
// once that was released, because the message came through the queue pair of the WRITEs. Until then, it asks
// the device, which sees memory: by READ, through a queue pair that is connected to itself. So is asked again
// about whatever the processor cannot verify elsewhere.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/local_memory.h"
#include "engine/server/chunk.h"
#include "engine/server/fiber_mutex.h"
#include "engine/server/loopback.h"
#include "engine/server/memory_book.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class ContainerReader {
 public:
  // `chunk_key`: for READs of the chunk in the connector's domain. `buffer`: what one READ brings at most.
  // Connects when it needs the device for the first time.
  ContainerReader(fabric::Host& host, const Chunk& chunk, const MemoryBook& book,
                  LoopbackConnector& connector, std::uint32_t chunk_key, LocalMemory buffer);

  // Empty if the entry points to nothing that verifies and fits a region, by the device's word. Waits.
  // Fibers may be in it at the same time.
  std::optional<ContainerCopy> read(Entry entry, Chunk::Part part);

 private:
  bool may_be_late(Entry entry) const;
  void read_through_device(std::uint64_t offset, std::span<std::byte> destination);
  bool read_piece(std::uint64_t offset, std::uint32_t length_bytes);
  fabric::WorkCompletion next_completion();

  const Chunk& chunk_;
  const MemoryBook& book_;
  LoopbackConnector& connector_;
  std::uint32_t chunk_key_;
  LocalMemory buffer_;
  FiberMutex reading_;
  std::optional<LoopbackPair> pair_;
  // A fiber that was cancelled leaves its READ under way, and the buffer with it.
  bool is_under_way_ = false;
};

}  // namespace falafel::engine
