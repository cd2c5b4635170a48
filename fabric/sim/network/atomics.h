// The steps of atomics. An atomic reads its word and then writes it. A choice decides whether there
// is a gap between the two, in which other actors may step. Another atomic of the same device on
// the word ends the gap first.
#pragma once

#include <cstddef>

#include "fabric/sim/network/connection.h"
#include "fabric/sim/network/failure.h"
#include "fabric/sim/network/request.h"
#include "fabric/sim/words/held_words.h"

namespace falafel::sim {

class Atomics {
 public:
  Atomics(const Connection& connection, Failure& failure, WordHolder& queue_pair)
      : connection_(connection), failure_(failure), queue_pair_(queue_pair) {}

  void progress(Request& request);
  // Writes the word and answers the atomic.
  void finish(Request& request);

 private:
  void return_old_word(const Request& request) const;
  void trace_read(const Request& request) const;

  const Connection& connection_;
  Failure& failure_;
  WordHolder& queue_pair_;
};

}  // namespace falafel::sim
