// Reads containers before the server draws conclusions from them.
//
// The processor may see an entry before it sees the container that the client wrote first (rule 10
// of docs/fabric.md): it may see older bytes, even an older valid container. It sees all of a
// region after its release, because the release message arrives through the queue pair of the
// WRITEs. Before that, the server reads with the device, which sees memory, through a queue pair
// that is connected to the server itself. It also uses the device for any container elsewhere that
// the processor cannot verify.
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
  // `chunk_key` permits READs of the chunk in the connector's domain. `buffer` limits the size of
  // one READ. The reader connects when it first needs the device.
  ContainerReader(fabric::Host& host, const Chunk& chunk, const MemoryBook& book,
                  LoopbackConnector& connector, std::uint32_t chunk_key, LocalMemory buffer);

  // Reads with the device. Returns nullopt unless the entry points to a valid container that fits
  // into a region. Waits. Several fibers may call it concurrently.
  std::optional<ContainerCopy> read(Entry entry, Chunk::Part part);

 private:
  bool may_be_late(Entry entry) const;
  void read_through_device(std::uint64_t offset, std::span<std::byte> destination);
  bool read_piece(std::uint64_t offset, std::uint32_t length_bytes);
  fabric::WorkCompletion next_completion();

  fabric::Host& host_;
  const Chunk& chunk_;
  const MemoryBook& book_;
  LoopbackConnector& connector_;
  std::uint32_t chunk_key_;
  LocalMemory buffer_;
  FiberMutex reading_;
  std::optional<LoopbackPair> pair_;
  // A cancelled fiber leaves its READ in flight, together with the buffer.
  bool is_under_way_ = false;
};

}  // namespace falafel::engine
