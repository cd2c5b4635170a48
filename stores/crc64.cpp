#include "stores/crc64.h"

#include <isa-l/crc64.h>

namespace falafel::stores {

std::uint64_t crc64(std::span<const std::byte> bytes) {
  return crc64_ecma_refl(crc64_seed, reinterpret_cast<const unsigned char*>(bytes.data()),
                         bytes.size());
}

}  // namespace falafel::stores
