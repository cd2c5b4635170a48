// Memory for values, registered with the client's device: a GET into it (Client::get) reads the
// container of the key to where the application keeps the value, and verifies it there.
//
// A handle; copies and parts share the memory, which lasts as long as any of them and every request
// that refers to it. A client registers the memory once for its connection: in allocate_buffer(),
// or at the first GET into memory that another client of the same host has allocated. The memory
// has one registration at a time, so clients that take turns with it register it at each turn.
//
// Programs that share one buffer between GETs in flight give each of them a part of its own.
// Handles belong to the fibers of their host, as all objects of a host do; Store::allocate_buffer()
// returns handles for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/client/results.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class Session;
struct LocalMemory;

class ValueBuffer {
 public:
  // The length of a buffer, or of a part, that takes any value of this length under any key of that
  // length: the header of a container, the key, a time to live, and the value.
  static constexpr std::uint64_t bytes_for(std::uint64_t key_bytes, std::uint64_t value_bytes) {
    return overhead_bytes + key_bytes + value_bytes;
  }

  // As Client::allocate_buffer().
  static fabric::Result<ValueBuffer> allocate(const std::shared_ptr<Session>& session,
                                              std::uint64_t size_bytes);

  std::span<std::byte> bytes() const;
  std::uint64_t size_bytes() const { return size_bytes_; }
  // The value that a GET into this buffer has put there.
  std::span<const std::byte> value_at(const PlaceInBuffer& place) const {
    return bytes().subspan(place.offset, place.length_bytes);
  }
  // These bytes of the buffer, as a buffer of its own.
  ValueBuffer part(std::uint64_t offset, std::uint64_t length_bytes) const;
  // Returns whether there are other handles of this memory.
  bool is_shared() const { return memory_.use_count() > 1; }

  // The memory, registered for this session. Errors: out_of_memory.
  fabric::Result<LocalMemory> registered_for(const std::shared_ptr<Session>& session) const;

 private:
  static constexpr std::uint64_t overhead_bytes = 32;
  struct Memory;
  ValueBuffer(std::shared_ptr<Memory> memory, std::uint64_t offset, std::uint64_t size_bytes);

  std::shared_ptr<Memory> memory_;
  std::uint64_t offset_;
  std::uint64_t size_bytes_;
};

}  // namespace falafel::engine
