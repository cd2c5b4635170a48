// Limits of memory for parts of a test. A program with them replaces operator new.
#pragma once

#include <cstdint>

namespace falafel::server_program {

// While it exists, allocations of the calling thread fail after the first ones: all (lasting), or
// only one.
class Limit {
 public:
  Limit(std::int64_t allocations, bool is_lasting);
  ~Limit();
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

  // An allocation has failed under the last limit of this thread.
  static bool was_felt();
};

// The threads that start after this object was made.
class LaterThreads {
 public:
  LaterThreads();
  ~LaterThreads() { lift_limit(); }
  LaterThreads(const LaterThreads&) = delete;
  LaterThreads& operator=(const LaterThreads&) = delete;

  // How many allocations all of them together can make before all fail.
  void limit(std::int64_t allocations) const;
  void lift_limit() const;
};

}  // namespace falafel::server_program
