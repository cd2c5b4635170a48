// A program that announces its loads and stores calls these functions before each of them, or in
// their place.
// Nothing happens if no simulated process runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/memory_region.h"
#include "simulated_verbs/plain_accesses.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/thread.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

// The region of the running process that contains the address; null if there is none.
inline MemoryRegion* region_at(const void* address) {
  const Process* const process = running_process();
  return process == nullptr ? nullptr : process->verbs().find_region(address);
}

inline void announce_other_access() {
  Thread* const thread = running_thread();
  if (thread == nullptr || !thread->plain_accesses().is_probably_waiting()) return;
  LibraryCall("a load or store").process().wait_for_activity();
}

inline void announce_load(const void* address, std::size_t length_bytes) {
  const MemoryRegion* const region = region_at(address);
  if (region == nullptr) return announce_other_access();
  const LibraryCall call("a load");
  call.thread().plain_accesses().expect_load(*region, address, length_bytes);
}

inline void announce_store(const void* address, std::size_t length_bytes) {
  const MemoryRegion* const region = region_at(address);
  if (region == nullptr) return announce_other_access();
  const LibraryCall call("a store");
  call.thread().plain_accesses().expect_store(*region, address, length_bytes);
}

}  // namespace falafel::simulated_verbs
