// The messages between client and memory node: private data of the connection request and reply,
// then requests for memory, which are all that the node's processor serves.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::race {

inline constexpr std::uint32_t hello_magic = 0x5241'4345;
inline constexpr std::uint32_t layout_version = 1;

struct ClientHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = layout_version;
  std::uint64_t client_id = 0;  // random; the same in all connections of a client
};

struct NodeHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = layout_version;
  std::uint32_t memory_key = 0;
  std::uint16_t slots_per_bucket = 0;
  std::uint8_t fingerprint_bits = 0;
  std::uint8_t most_depth = 0;
  std::uint64_t groups_per_subtable = 0;
  std::uint64_t hash_seed = 0;
  std::uint64_t incarnation = 0;  // random; another one has none of the contents
  std::uint64_t heap_bytes = 0;
  std::uint32_t segment_bytes = 0;
  std::uint32_t most_block_bytes = 0;
};
static_assert(sizeof(ClientHello) == 16);
static_assert(sizeof(NodeHello) == fabric::max_private_data_bytes);

struct AllocationRequest {
  std::uint32_t request_id = 0;
  std::uint32_t zero = 0;
  std::uint64_t bytes = 0;
};
struct AllocationReply {
  std::uint32_t request_id = 0;
  std::uint32_t zero = 0;
  std::uint64_t offset = 0;  // in the memory; 0: there is none
};
static_assert(sizeof(AllocationRequest) == 16 && sizeof(AllocationReply) == 16);
inline constexpr std::uint32_t message_bytes = 16;

}  // namespace falafel::race
