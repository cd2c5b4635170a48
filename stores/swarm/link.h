// A client's connection to one node, with the chains of requests of which operations consist. Each
// waits, and returns nothing if the node does not answer; its change may then have happened, or
// happen later. A chain that breaks its connection is repeated on the next one; repeating one that
// has had its effect changes nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/memory_nodes/node_connection.h"
#include "stores/swarm/layout.h"
#include "stores/swarm/options.h"
#include "stores/swarm/record.h"

namespace falafel::swarm {

// The metadata words of a register at one node, as a chain has found or left them.
struct Seen {
  Word newest;
  Word own;  // of the word that this client swaps
};

class Link {
 public:
  // The host outlives the link, which connects at its first use. Errors: out_of_memory.
  static fabric::Result<std::unique_ptr<Link>> create(fabric::Host& host,
                                                      const stores::Member& member,
                                                      std::uint32_t writer, const Options& options);

  struct Found {
    Seen seen;
    std::optional<Record> in_place;
  };
  std::optional<Found> read(std::uint64_t number, bool with_record);
  std::optional<Record> read_buffer(Word word);
  // Locks the buffer of the word, then reads.
  std::optional<Seen> lock_and_read(Word word, std::uint64_t number);

  // In this order: the words are read, the buffer of `desired` is written, the own word is swapped,
  // the data in place are written, and the lock of another word is read. Spans may be empty.
  struct Change {
    std::uint64_t number = 0;
    Word expected;
    Word desired;
    bool reads_words = false;
    std::span<const std::byte> buffer;
    std::span<const std::byte> in_place;
    std::optional<Word> lock;
  };
  struct Changed {
    Seen seen;
    bool is_locked = false;
    bool is_repeated = false;  // an earlier attempt may have swapped the word
  };
  std::optional<Changed> swap(const Change& change);
  std::optional<bool> read_lock(Word word);

  // The index.

  using Groups = std::array<std::uint64_t, 2 * slots_per_group>;
  std::optional<Groups> read_groups(std::uint64_t first_slot, std::uint64_t second_slot);
  std::optional<std::vector<std::byte>> read_key(std::uint64_t number);
  // Writes the key of a register, then swaps a slot that is empty.
  struct Inserted {
    std::uint64_t before = 0;  // in the slot
    bool is_repeated = false;  // an earlier attempt may yet write the key
  };
  std::optional<Inserted> insert(std::uint64_t number, std::span<const std::byte> key,
                                 std::uint64_t slot, std::uint64_t desired);

 private:
  Link(std::unique_ptr<stores::NodeConnection> connection, std::uint32_t writer,
       const Options& options);
  fabric::WorkRequest words_request(std::uint64_t number) const;
  Seen seen_in_buffer();
  std::vector<std::byte> bytes_in_buffer(std::uint64_t place, std::uint64_t length_bytes);

  std::unique_ptr<stores::NodeConnection> connection_;
  std::uint32_t writer_;
  Options options_;
  Layout layout_;
};

}  // namespace falafel::swarm
