// Replicated max registers: what a client does with the words of one key at a majority of nodes.
// Each step waits for that majority, and returns nothing if there is none. (Authors' code,
// relaxed_maxreg.hpp for the majority, unreliable_maxreg.hpp for In-n-Out at one node.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "stores/swarm/layout.h"
#include "stores/swarm/link.h"
#include "stores/swarm/options.h"
#include "stores/swarm/record.h"
#include "stores/swarm/replicas.h"

namespace falafel::swarm {

// A register, and the node that has its data in place.
struct Place {
  std::uint64_t number = 0;
  std::size_t first = 0;
};

// The words of a register by node; none where a node has not answered yet.
using Words = std::vector<std::optional<Seen>>;

Word newest_of(const Words& words);
// The number of nodes whose newest word is that version, verified or not.
std::size_t count_of(const Words& words, Word word);

// A value on its way to the nodes: into its buffer at each of them before the first word that
// refers to it.
struct Filling {
  Content content;
  std::vector<bool> is_filled;  // by node
};
using SharedFilling = std::shared_ptr<Filling>;

class Registers {
 public:
  // `replicas` outlive the registers.
  Registers(const Options& options, Replicas& replicas);

  std::size_t nodes() const { return replicas_.nodes(); }
  bool is_at_majority(const Words& words, Word word) const;
  SharedFilling filling_of(Content content) const;

  struct Found {
    Words words;
    std::optional<Record> in_place;
  };
  // `with_record`: also the data in place.
  std::optional<Found> read(Place place, bool with_record);
  std::optional<Words> lock_and_read(Place place, Word word);
  // Reads the lock of the word's buffer at a majority.
  struct Looked {
    bool is_locked = false;    // at one of them
    bool is_overtaken = true;  // all of them had a newer word before
  };
  // `words`: what the nodes had before.
  std::optional<Looked> read_lock(Place place, Word word, const Words& words);
  // The value of the word, from a node that has it. Without an answer, or if no node has the value
  // of the word any more: nothing.
  std::optional<Content> fetch(Place place, const Words& words, Word word);

  // Swaps the own word of each node once, without a look at the words, which it reads meanwhile.
  struct Tried {
    Words words;
    bool may_be_somewhere = false;  // a node may have had the word
  };
  std::optional<Tried> try_to_write(Place place, Word word, const SharedFilling& filling,
                                    const Words& known);
  // Makes the word the newest, unless a node has it or a newer one.
  struct Change {
    Word word;
    SharedFilling filling;
    bool fills = false;                       // buffers that are not filled yet, even as published
    bool in_place = false;                    // also the data in place
    std::optional<Word> lock = std::nullopt;  // is read afterwards
  };
  struct Changed {
    Words words;
    bool is_locked = false;
  };
  std::optional<Changed> put(Place place, const Change& change, const Words& known);
  // The same, without waiting.
  void put_later(Place place, const Change& change, const Words& known);

 private:
  Task put_task(Place place, const Change& change, const Words& known,
                const std::shared_ptr<Changed>& changed) const;

  Options options_;
  Layout layout_;
  Replicas& replicas_;
};

}  // namespace falafel::swarm
