// Submitted operations of the C interface that have ended, for those who poll.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>

#include "falafel/falafel.h"

namespace falafel {

// Thread-safe. Operations come in lists with an element for each, so that one can end without
// memory.
class EndedOperations {
 public:
  EndedOperations() = default;
  ~EndedOperations();
  EndedOperations(const EndedOperations&) = delete;
  EndedOperations& operator=(const EndedOperations&) = delete;

  // This number of further operations will end.
  void expect(std::size_t count);
  // `ended` has one element.
  void add(std::list<falafel_operation*>& ended);
  void wait_until_all_have_ended();

  // See falafel.h.
  std::size_t poll(std::span<falafel_operation*> ended, std::uint64_t timeout_ns);
  int descriptor();

 private:
  void show_on_descriptor();

  std::mutex mutex_;  // protects what follows
  std::condition_variable has_ended_;
  std::list<falafel_operation*> ended_;
  std::size_t unfinished_ = 0;
  int descriptor_ = -1;  // an eventfd, readable if ended_ is not empty
};

}  // namespace falafel
