#include "stores/registered_memory.h"

#include <utility>

namespace falafel::stores {

fabric::Result<RegisteredMemory> RegisteredMemory::create(fabric::Host& host,
                                                          fabric::ProtectionDomain& domain,
                                                          std::uint64_t size_bytes,
                                                          const fabric::Access& access) {
  auto block = host.allocate_memory(size_bytes);
  if (!block) return tl::unexpected(block.error());
  auto region = domain.register_memory(*block, 0, size_bytes, access);
  if (!region) return tl::unexpected(region.error());
  return RegisteredMemory{.block = std::move(*block), .region = std::move(*region)};
}

}  // namespace falafel::stores
