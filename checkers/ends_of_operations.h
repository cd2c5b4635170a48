// The end of operations: when the server tells a client that all operations from before its
// question have ended, none of them is pending (docs/protocol.md, "The end of operations").
// Operations of clients that have lost their connection meanwhile do not count: the server has
// fenced them.
//
// Property: "end.operation-left".
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "checkers/history.h"
#include "checkers/judgement.h"

namespace falafel::checkers {

class EndsOfOperations {
 public:
  // An operation begins on a connection. It has ended when the fiber that executes it ends it, or
  // when that fiber is cancelled.
  void on_called(std::uint64_t fiber, std::uint32_t connection, const Operation& operation);
  void on_ended(std::uint64_t fiber);
  void on_connection_lost(std::uint32_t connection);
  // The server has died. Connections with greater numbers than this one are with the next server.
  void on_server_died(std::uint32_t newest_connection);

  // A fiber asks for the end of all operations, and hears that they have ended, or does not.
  void on_asked(std::uint64_t fiber);
  void on_told(std::uint64_t fiber, std::uint64_t step);
  void on_not_told(std::uint64_t fiber) { questions_.erase(fiber); }

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  struct Pending {
    std::uint32_t connection = 0;
    std::uint32_t client = 0;
    std::uint64_t call_time = 0;
  };

  bool is_lost(std::uint32_t connection) const;

  std::map<std::uint64_t, Pending> pending_;  // by fiber
  std::set<std::uint32_t> lost_;              // connections
  std::uint32_t lost_up_to_ = 0;              // and all connections up to this number
  // The call times of the operations that were pending at each question, by the fiber that asks.
  std::map<std::uint64_t, std::set<std::uint64_t>> questions_;
  Judgement judgement_{
      .verdict = Verdict::holds, .property = "end.operation-left", .explanation = {}};
};

}  // namespace falafel::checkers
