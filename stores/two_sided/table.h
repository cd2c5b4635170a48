// The hash table (3.1.3, 3.1.4): buckets with linked lists of pairs, a mutex per bucket and a
// reader-writer lock per pair.
//
// Workers share it as threads would: they can lose the processor between any two accesses to what
// others use, which Host::preemption_point marks. A pair that is freed is the first to be used
// again, and may be used while somebody still has a pointer to it, as with malloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/two_sided/layout.h"
#include "stores/two_sided/locks.h"
#include "stores/two_sided/options.h"

namespace falafel::two_sided {

using Bytes = std::vector<std::byte>;

// The table's contents and locks, for checkers.
struct TableInspection {
  std::vector<std::vector<Bytes>> keys;  // of each bucket, from the head of its list
  std::uint64_t locks_held = 0;
  std::uint64_t rings = 0;  // lists without an end
};

enum class TableAnswer : std::uint8_t {
  done,
  absent,  // GET, DELETE
  busy,    // others use the pair
  full,    // SET: there are most_pairs pairs
};

struct GetOutcome {
  TableAnswer answer = TableAnswer::absent;
  Bytes value{};
};

class Table {
 public:
  // Both outlive the table.
  Table(fabric::Host& host, const Options& options);

  // All of them wait for locks. Keys and values are within the limits of layout.h. Without
  // Safeguards::waiting_locks, a pair that others use is busy.
  GetOutcome get(std::span<const std::byte> key);
  TableAnswer set(std::span<const std::byte> key, std::span<const std::byte> value);
  TableAnswer remove(std::span<const std::byte> key);
  void clear();

  std::uint64_t pairs() const { return pool_.size() - free_.size(); }
  std::uint64_t memory_bytes() const;  // of buckets and pairs, those included that are free
  TableInspection inspect() const;

 private:
  struct Pair {
    Bytes key;
    std::array<std::byte, most_value_bytes> value{};
    std::uint64_t value_bytes = 0;
    Pair* next = nullptr;
    ReaderWriterLock lock;
  };
  struct Bucket {
    Pair* first = nullptr;
    Mutex mutex;
  };
  enum class Access : std::uint8_t { shared, exclusive };

  Bucket& bucket_of(std::span<const std::byte> key);
  void lock(Bucket& bucket);
  void unlock(Bucket& bucket);
  bool lock(Pair& pair, Access access);
  void unlock(Pair& pair);
  Pair** find(Bucket& bucket, std::span<const std::byte> key);
  bool has_key(const Pair& pair, std::span<const std::byte> key) const;
  bool lock_and_release(Pair& pair, Access access, Bucket* bucket);
  Pair* insert(Bucket& bucket, std::span<const std::byte> key);
  bool unlink(Pair** link);
  Pair* allocate();
  void copy(std::span<const std::byte> source, std::byte* destination);

  fabric::Host& host_;
  const Options& options_;
  std::unique_ptr<fabric::Event> released_;  // a lock
  std::vector<Bucket> buckets_;
  std::deque<Pair> pool_;
  std::vector<Pair*> free_;
};

// The bucket of a key, by Bernstein's hash function, known as djb2.
std::uint64_t bucket_number(std::span<const std::byte> key, std::uint64_t buckets);

}  // namespace falafel::two_sided
