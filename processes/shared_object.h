// An object in memory that the process shares with the processes that it forks later.
#pragma once

#include <sys/mman.h>

#include <new>

#include "processes/child_process.h"

namespace falafel::processes {

// T must work in several processes at once: it consists of atomics, and nothing in it points
// elsewhere. T is constructed in zeroed memory and never destroyed.
template <typename T>
class SharedObject {
 public:
  // Throws std::system_error if the system has no memory.
  SharedObject() {
    void* memory =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail_system_call("mmap");
    object_ = new (memory) T();
  }
  ~SharedObject() { ::munmap(object_, sizeof(T)); }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }

 private:
  T* object_;
};

}  // namespace falafel::processes
