// The memory of a store whose server starts over it: finds out which parts hold data, and moves
// data until the invariants of the running server hold.
//
// Nothing but the table says what is in use. The rest of a mature space behind its last live
// container is free. All regions are collected, so that none counts as outstanding. Semi-spaces: if
// both hold data, the former process was collecting one into the other, and one direction is taken
// to its end. Blocks: if none is free, the former process was collecting a block, and what is left
// of it goes to the rest of another one.
//
// docs/protocol.md ("A server that starts over its memory") proves that there is room for all of
// it, and why the process may end at any step. Only if a hostile client has made containers
// overlap, there may be none; what does not fit is then lost, as in any collection.
//
// Requires that no entry is locked, and that none that points to a container is deleted. Nobody
// else may change the memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/server/chunk.h"
#include "engine/server/collector.h"
#include "engine/server/held_memory.h"
#include "engine/server/memory_book.h"
#include "engine/server/pace.h"
#include "engine/server/processor_updater.h"
#include "engine/server/server_inspection.h"
#include "engine/server/server_options.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class MemoryRecovery {
 public:
  MemoryRecovery(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
                 MemoryBook& book, HeldMemory& held, ServerStatistics& statistics);

  // Both wait, but only to let other fibers run, and return false if the system has too little
  // memory. Holds the regions and blocks to which entries point. Call it before anybody reads a
  // container.
  bool hold_data();
  bool run();

 private:
  // The data of a region or a mature space, in bytes.
  struct Data {
    std::uint64_t live = 0;  // in whole units
    std::uint64_t end = 0;   // of the last live container

    void add(std::uint64_t begin, std::uint64_t length) {
      live += length;
      end = std::max(end, begin + length);
    }
  };

  bool hold_part_of(Entry entry);
  bool hold_free_blocks();
  void find_data();
  void add(Entry entry);
  void enter_spaces();

  void finish_collection();
  void collect_regions();
  void free_a_block();

  // The space with data whose rest is the smallest that has room for this. Otherwise, a free block
  // if there is one, or else the space with the largest rest.
  std::uint32_t find_target(std::uint64_t bytes) const;
  std::uint32_t largest_rest() const;
  void collect_space(std::uint32_t source, std::uint32_t target);
  void collect_into(const ByteRange& source, std::uint32_t target);
  std::uint64_t rest(std::uint32_t space) const;
  std::uint32_t space_count() const { return chunk_.geometry.mature_space_count; }

  fabric::Host& host_;
  const Chunk& chunk_;
  MemoryBook& book_;
  HeldMemory& held_;
  ProcessorUpdater updater_;
  Collector collector_;
  Pace pace_;
  std::vector<Data> regions_;
  std::vector<Data> spaces_;
};

}  // namespace falafel::engine
