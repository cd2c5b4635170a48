// A look at the two combined buckets of a key: its slots, and the blocks whose fingerprint matches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/race/connection.h"
#include "stores/race/hashing.h"
#include "stores/race/layout.h"
#include "stores/race/options.h"

namespace falafel::race {

// A slot as it was read.
struct SeenSlot {
  std::uint64_t offset = 0;  // in the memory
  std::uint64_t word = 0;
};

// A copy of the key, with its value.
struct Copy {
  SeenSlot slot;
  Bytes value;
};

enum class Look : std::uint8_t {
  done,
  changed,  // a block did not verify, so its slot has changed since it was read; look again
  broken,   // the connection is down
};

class Search {
 public:
  // All of them outlive this object. `subtable` is the offset of the key's.
  Search(fabric::Host& host, Connection& connection, const Options& options,
         OperationStatistics& statistics, std::span<const std::byte> key, std::uint64_t subtable);

  const KeyHash& hash() const { return hash_; }
  std::uint64_t fingerprint() const {
    return hash_.fingerprint(connection_.node().fingerprint_bits);
  }

  // READs both combined buckets, after the WRITE of a block if there is one.
  bool read(const std::optional<BlockWrite>& write = std::nullopt);
  // READs the blocks of the slots whose fingerprint matches, tentative ones too if asked for, and
  // finds the copies of the key, in the order of their slots. It ends at the first copy if only
  // one is wanted.
  struct Wanted {
    bool tentative = false;
    bool all = false;
  };
  Look find(const Wanted& wanted, std::vector<Copy>& copies);
  // All headers agree with the key.
  bool is_in_place() const;
  std::uint32_t local_depth() const;  // that one of the headers has
  // The slot in which an insert puts the key; none if both combined buckets are full.
  std::optional<std::uint64_t> empty_slot() const;

 private:
  struct Choice {
    std::vector<SeenSlot> main;
    std::vector<SeenSlot> overflow;
    std::uint64_t used() const;
  };
  Choice choice(std::size_t number) const;
  std::vector<SeenSlot> candidates(bool tentative) const;
  Look judge(const SeenSlot& slot, const Bytes& block, std::vector<Copy>& copies);

  fabric::Host& host_;
  Connection& connection_;
  const Options& options_;
  OperationStatistics& statistics_;
  std::span<const std::byte> key_;
  KeyHash hash_;
  std::array<std::uint64_t, 2> choices_;
  CombinedBuckets buckets_;
};

}  // namespace falafel::race
