// The end of operations: when the server tells a client that all operations from before its
// question have ended, none of them is pending (docs/protocol.md, "The end of operations").
// An operation whose client has lost its connection meanwhile may be pending for its caller,
// because the server has fenced the client. But nothing that such an operation has sent changes
// memory anymore.
//
// Properties: "end.operation-left", "end.landed-later".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

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

  // A client has posted a request. Places in a send queue grow.
  void on_posted(std::uint32_t connection, std::uint64_t place) {
    last_posted_[connection] = place;
  }
  // A request has changed memory of the server.
  void on_landed(std::uint32_t connection, std::uint64_t place, std::uint64_t step);

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

  struct Question {
    std::set<std::uint64_t> pending;                     // call times of the pending operations
    std::map<std::uint32_t, std::uint64_t> last_posted;  // place, by connection
  };

  bool is_lost(std::uint32_t connection) const;
  void fail(std::string property, std::string explanation, std::vector<std::uint64_t> calls,
            std::uint64_t step);

  std::map<std::uint64_t, Pending> pending_;            // by fiber
  std::set<std::uint32_t> lost_;                        // connections
  std::uint32_t lost_up_to_ = 0;                        // and all connections up to this number
  std::map<std::uint32_t, std::uint64_t> last_posted_;  // place, by connection
  // The requests up to this place of each connection have ended, as somebody has heard.
  std::map<std::uint32_t, std::uint64_t> ended_up_to_;
  std::map<std::uint64_t, Question> questions_;  // by the fiber that asks
  Judgement judgement_{.verdict = Verdict::holds, .property = "end", .explanation = {}};
};

}  // namespace falafel::checkers
