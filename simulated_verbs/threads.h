// The threads of a process: fibers of its host. The one that runs main is the first. A process ends
// when main returns, and its other threads end with it.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "simulated_verbs/locks.h"
#include "simulated_verbs/thread.h"

namespace falafel::simulated_verbs {

class Process;

// Thrown by pthread_exit and exit, and caught where the thread began.
struct ThreadExit {
  void* result = nullptr;
};
struct ProcessExit {
  int status = 0;
};

class Threads {
 public:
  using Body = std::function<void*()>;
  using Destructor = void (*)(void*);
  // The C library gives smaller keys.
  static constexpr pthread_key_t first_key = 1'000'000;

  explicit Threads(Process& process);

  // Runs main in the calling fiber, as the first thread, and returns its status.
  int run_main(const std::function<int()>& main);
  // Ends all threads that still run, and waits until they have.
  void end_all();

  Thread& start(bool is_detached, Body body);
  Thread* find(pthread_t number) const;  // null if there is none
  // Each returns 0 or an errno. Joining waits.
  int join(const Thread& self, pthread_t number, void** result);
  // EBUSY if the thread has not ended.
  int try_join(const Thread& self, pthread_t number, void** result);
  int detach(pthread_t number);

  pthread_key_t add_key(Destructor destructor);
  bool remove_key(pthread_key_t key) { return keys_.erase(key) == 1; }
  bool has_key(pthread_key_t key) const { return keys_.contains(key); }

  Locks& locks() { return locks_; }

 private:
  void run(Thread& thread, const Body& body);
  void destroy_values(Thread& thread);

  Process& process_;
  std::vector<std::unique_ptr<Thread>> threads_;  // by number - 1; the first one runs main
  std::unique_ptr<fabric::Event> finished_;
  std::map<pthread_key_t, Destructor> keys_;
  pthread_key_t next_key_ = first_key;
  Locks locks_;
};

}  // namespace falafel::simulated_verbs
