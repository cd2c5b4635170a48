// Registered memory of the local host, or a part of it. Requests read their data from it and write
// results to it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fabric/fabric.h"

namespace falafel::engine {

struct LocalMemory {
  std::shared_ptr<fabric::MemoryBlock> block;
  std::shared_ptr<fabric::MemoryRegion> region;
  std::uint32_t key = 0;    // of the region
  std::uint64_t begin = 0;  // within the block
  std::uint64_t size_bytes = 0;

  fabric::MemoryAddress at(std::uint64_t offset) const { return {key, begin + offset}; }
  std::span<std::byte> bytes(std::uint64_t offset, std::uint64_t length) const {
    return block->bytes().subspan(begin + offset, length);
  }
  // The returned part shares ownership of the memory.
  LocalMemory piece(std::uint64_t offset, std::uint64_t length) const {
    LocalMemory part = *this;
    part.begin += offset;
    part.size_bytes = length;
    return part;
  }
};

// Errors: out_of_memory.
inline fabric::Result<LocalMemory> allocate_local_memory(fabric::Host& host,
                                                         fabric::ProtectionDomain& domain,
                                                         std::uint64_t size_bytes) {
  auto block = host.allocate_memory(size_bytes);
  if (!block) return tl::unexpected(block.error());
  auto region = domain.register_memory(*block, 0, size_bytes, {.local_write = true});
  if (!region) return tl::unexpected(region.error());
  const std::uint32_t key = (*region)->local_key();
  return LocalMemory{std::move(*block), std::move(*region), key, 0, size_bytes};
}

}  // namespace falafel::engine
