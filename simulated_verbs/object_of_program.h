// The memory of objects that programs see, such as the queue pair behind an ibv_qp. It comes from
// the default resource of std::pmr, so that whoever runs programs as processes of their own can
// place these objects where such a process sees them (unmodified/object_memory.h).
#pragma once

#include <cstddef>
#include <memory_resource>

namespace falafel::simulated_verbs {

struct ObjectOfProgram {
  static void* operator new(std::size_t bytes) {
    return std::pmr::get_default_resource()->allocate(bytes);
  }
  static void operator delete(void* object, std::size_t bytes) {
    std::pmr::get_default_resource()->deallocate(object, bytes);
  }
};

}  // namespace falafel::simulated_verbs
