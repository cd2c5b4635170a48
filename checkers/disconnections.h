// Disconnections: a connection breaks for a reason, which is a fault, a request without an answer
// (the other side ended the connection, or died), the news that the other side has closed, or the
// client's own goodbye. Only operations on a
// broken connection answer that it is broken. Property: "refusal.disconnected".
#pragma once

#include <cstdint>
#include <vector>

#include "checkers/history.h"
#include "checkers/judgement.h"

namespace falafel::checkers {

class Disconnections {
 public:
  // The queue pair of a client's connection went into the error state.
  void on_error(std::uint32_t queue_pair) { at(queue_pair).is_broken = true; }
  // A request on it got no answer: the other side ended the connection, or died.
  void on_no_answer(std::uint32_t queue_pair) { at(queue_pair).has_reason = true; }
  // The client heard that the other side has closed it.
  void on_close_heard(std::uint32_t queue_pair) { at(queue_pair).has_reason = true; }
  // A fault broke it.
  void on_fault(std::uint32_t queue_pair) { at(queue_pair).has_reason = true; }
  // The client ends the connection.
  void on_goodbye(std::uint32_t queue_pair) { at(queue_pair).has_reason = true; }

  bool is_broken(std::uint32_t queue_pair) const {
    return queue_pair < connections_.size() && connections_[queue_pair].is_broken;
  }

  // An operation answered that its connection is broken.
  void on_disconnected(std::uint32_t queue_pair, const Operation& operation, std::uint64_t step);

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  struct Connection {
    bool is_broken = false;
    bool has_reason = false;
  };

  Connection& at(std::uint32_t queue_pair);

  std::vector<Connection> connections_;  // by queue pair
  Judgement judgement_{
      .verdict = Verdict::holds, .property = "refusal.disconnected", .explanation = {}};
};

}  // namespace falafel::checkers
