#include "simulated_verbs/unmodified/object_memory.h"

#include <cstring>

#include "simulated_verbs/unmodified/mailbox.h"

namespace falafel::simulated_verbs {

ObjectMemory::ObjectMemory()
    : file_("objects", objects_bytes),
      mapping_(file_.descriptor(), 0, objects_bytes, objects_address),
      pages_(mapping_.begin(), objects_bytes, std::pmr::null_memory_resource()),
      pools_(&pages_) {
  std::pmr::set_default_resource(&pools_);
}

ObjectMemory::~ObjectMemory() { std::pmr::set_default_resource(nullptr); }

const char* ObjectMemory::share_text(const char* text) {
  char*& copy = texts_[text];
  if (copy == nullptr) {
    const std::size_t bytes = std::strlen(text) + 1;
    copy = static_cast<char*>(pools_.allocate(bytes, 1));
    std::memcpy(copy, text, bytes);
  }
  return copy;
}

}  // namespace falafel::simulated_verbs
