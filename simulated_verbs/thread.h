// A thread of a process: a fiber of its host.
#pragma once

#include <pthread.h>

#include <map>

#include "fabric/fabric.h"
#include "simulated_verbs/plain_accesses.h"
#include "simulated_verbs/process_site.h"

namespace falafel::simulated_verbs {

class Process;

class Thread {
 public:
  // `site`: the same process, as its objects see it.
  Thread(Process& process, ProcessSite& site, pthread_t number)
      : process_(process), host_(site.host()), number_(number), plain_accesses_(site) {}
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  Process& process() const { return process_; }
  fabric::Host& host() const { return host_; }
  pthread_t number() const { return number_; }
  PlainAccesses& plain_accesses() { return plain_accesses_; }
  // The value that pthread_setspecific set; null if there is none.
  void* value(pthread_key_t key) const;
  void set_value(pthread_key_t key, void* value) { values_[key] = value; }

 private:
  friend class Threads;

  Process& process_;
  fabric::Host& host_;
  pthread_t number_;
  PlainAccesses plain_accesses_;
  std::map<pthread_key_t, void*> values_;
  fabric::FiberId fiber_ = 0;
  bool is_detached_ = false;
  bool is_joined_ = false;
  bool is_finished_ = false;
  void* result_ = nullptr;
};

}  // namespace falafel::simulated_verbs
