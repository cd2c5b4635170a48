#include "simulated_verbs/thread.h"

namespace falafel::simulated_verbs {

void* Thread::value(pthread_key_t key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : found->second;
}

}  // namespace falafel::simulated_verbs
