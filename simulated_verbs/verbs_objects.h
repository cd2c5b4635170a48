// The verbs objects of a process, each a struct of libibverbs with what the library keeps beside
// it. An object that others still use cannot be destroyed (EBUSY), as in the kernel.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "simulated_verbs/address_handle.h"
#include "simulated_verbs/completion_channel.h"
#include "simulated_verbs/completion_queue.h"
#include "simulated_verbs/context.h"
#include "simulated_verbs/memory_region.h"
#include "simulated_verbs/memory_window.h"
#include "simulated_verbs/object_of_program.h"
#include "simulated_verbs/protection_domain.h"
#include "simulated_verbs/queue_pair.h"
#include "simulated_verbs/shared_receive_queue.h"

namespace falafel::simulated_verbs {

class ProcessSite;

// Owns objects of one kind.
template <typename Object>
class Objects {
 public:
  Object* add(std::unique_ptr<Object> object) {
    objects_.push_back(std::move(object));
    return objects_.back().get();
  }
  // Destroys the object.
  void remove(const Object* object) {
    std::erase_if(objects_, [&](const auto& owned) { return owned.get() == object; });
  }
  // Destroys one object after the other, because others may be added meanwhile.
  template <typename Condition>
  void remove_if(Condition condition) {
    const auto is_meant = [&](const auto& owned) { return condition(*owned); };
    while (true) {
      const auto found = std::ranges::find_if(objects_, is_meant);
      if (found == objects_.end()) return;
      const std::unique_ptr<Object> object = std::move(*found);
      objects_.erase(found);
    }
  }
  const std::vector<std::unique_ptr<Object>>& all() const { return objects_; }

 private:
  std::vector<std::unique_ptr<Object>> objects_;
};

// Members are destroyed from the last to the first: what uses others comes after them.
class VerbsObjects : public ObjectOfProgram {
 public:
  explicit VerbsObjects(ProcessSite& process) : device(process) {}

  // The region that contains the address; null if there is none.
  MemoryRegion* find_region(const void* address) const;
  // A window over the region is bound, or was bound and has not been invalidated.
  bool has_windows_over(const MemoryRegion& region) const;
  // Its device uses the region no more, and requests in flight of peers have landed.
  void withdraw(const MemoryRegion& region) const;
  // The device has given up some memory. Returns once requests in flight of peers have landed.
  void receive_what_lands() const;

  Device device;
  Objects<Context> contexts;
  Objects<ProtectionDomain> protection_domains;
  Objects<MemoryRegion> memory_regions;
  Objects<AddressHandle> address_handles;
  Objects<CompletionChannel> completion_channels;
  Objects<CompletionQueue> completion_queues;
  Objects<SharedReceiveQueue> shared_receive_queues;
  Objects<MemoryWindow> memory_windows;
  Objects<QueuePair> queue_pairs;
};

}  // namespace falafel::simulated_verbs
