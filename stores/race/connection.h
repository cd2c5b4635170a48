// A client's connection to the memory node: chains of one-sided requests, and requests for memory.
// A function that returns false has found the connection down.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/exchange/client_end.h"
#include "stores/race/layout.h"
#include "stores/race/messages.h"
#include "stores/race/options.h"
#include "stores/race/results.h"

namespace falafel::race {

inline constexpr std::uint32_t blocks_at_a_time = 4;

// Two combined buckets as one chain of READs has returned them.
struct CombinedBuckets {
  std::array<std::uint64_t, 2> offsets{};  // in the memory
  std::array<Bytes, 2> bytes{};
};

// A block that is written before the READs of the same chain.
struct BlockWrite {
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes{};
};

class Connection final : private stores::Recipient {
 public:
  // One attempt. Errors: those of Device::connect, invalid_argument (the listener is no memory node
  // of this version), out_of_memory. `options` and `statistics` outlive the connection.
  static fabric::Result<std::unique_ptr<Connection>> open(fabric::Host& host,
                                                          const fabric::Address& server,
                                                          const Options& options,
                                                          std::uint64_t client_id,
                                                          OperationStatistics& statistics);

  const NodeHello& node() const { return node_; }
  const Geometry& geometry() const { return geometry_; }
  bool is_up() { return end_.is_up(); }

  // One doorbell: the WRITE of a block, if there is one, and READs of both combined buckets.
  bool read_buckets(CombinedBuckets& buckets, const std::optional<BlockWrite>& write);
  // One doorbell: at most blocks_at_a_time. A block out of the heap reads as nothing.
  bool read_blocks(std::span<const Slot> slots, std::vector<Bytes>& blocks);
  // `word` becomes the word that was there.
  bool swap(std::uint64_t offset, std::uint64_t expected, std::uint64_t desired,
            std::uint64_t& word);
  bool read_directory(std::vector<std::uint64_t>& entries);
  bool read_word(std::uint64_t offset, std::uint64_t& word);
  bool read_bucket(std::uint64_t offset, Bytes& bytes);
  // WRITEs the same bytes, at most those of a bucket, to all of these places.
  bool write_copies(std::span<const std::uint64_t> offsets, std::span<const std::byte> bytes);
  // The offset of new memory; 0: there is none.
  bool allocate(std::uint64_t bytes, std::uint64_t& offset);

 private:
  Connection(fabric::Host& host, const Options& options, OperationStatistics& statistics);

  stores::Meaning take(std::span<const std::byte> message, std::uint32_t awaited_id) override;
  bool is_in_heap(const Slot& slot) const;
  Bytes copy_of(std::uint64_t own_offset, std::uint64_t length_bytes);
  bool read(std::uint64_t own_offset, std::uint64_t offset, std::uint64_t length_bytes);

  // The client's buffer: a word, both combined buckets, blocks that are read and one that is
  // written, and the directory.
  std::uint64_t buckets_offset() const { return fabric::word_bytes; }
  std::uint64_t blocks_offset() const {
    return buckets_offset() + 2 * geometry_.subtable.combined_bytes();
  }
  std::uint64_t write_offset() const {
    return blocks_offset() + blocks_at_a_time * std::uint64_t{node_.most_block_bytes};
  }
  std::uint64_t directory_offset() const { return write_offset() + node_.most_block_bytes; }
  std::uint64_t own_bytes() const {
    return directory_offset() + geometry_.most_entries() * fabric::word_bytes;
  }

  fabric::Host& host_;
  const Options& options_;
  OperationStatistics& statistics_;
  NodeHello node_;
  Geometry geometry_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  AllocationReply reply_;
  std::uint32_t last_request_id_ = 0;
  stores::ClientEnd end_;
};

}  // namespace falafel::race
