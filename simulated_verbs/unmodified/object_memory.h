// The memory of all objects of a run that its programs see (ObjectOfProgram). Each process maps it
// at the same address. It exists as long as a run, so that each run gives the same addresses.
#pragma once

#include <map>
#include <memory_resource>
#include <string>

#include "simulated_verbs/unmodified/shared_file.h"

namespace falafel::simulated_verbs {

class ObjectMemory {
 public:
  // Only one at a time: it is the default resource of std::pmr until it is destroyed.
  ObjectMemory();
  ~ObjectMemory();
  ObjectMemory(const ObjectMemory&) = delete;
  ObjectMemory& operator=(const ObjectMemory&) = delete;

  int descriptor() const { return file_.descriptor(); }
  // A copy of the text for programs, which is the same one whenever the text is the same.
  const char* share_text(const char* text);

 private:
  SharedFile file_;
  SharedMapping mapping_;
  std::pmr::monotonic_buffer_resource pages_;
  std::pmr::unsynchronized_pool_resource pools_;
  std::map<std::string, char*> texts_;
};

}  // namespace falafel::simulated_verbs
