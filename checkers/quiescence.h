// Quiescence: a client that answers the server's question has no operation left that began before
// the question (docs/protocol.md, "Epochs"). The server then reuses memory that such an
// operation may still read, so an early answer need not do harm to be wrong.
//
// An operation begins when it reads for the first time, and begins again when it restarts. The
// checker learns when an operation returns whether it has restarted, and judges those that have
// not.
//
// Property: "quiescence.answered-early".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "checkers/judgement.h"

namespace falafel::checkers {

class Quiescence {
 public:
  // Operations have any numbers, each of them once, and so have clients.
  void on_began(std::uint64_t operation, std::uint32_t client);
  // `has_restarted`: it began again, or may have.
  void on_returned(std::uint64_t operation, bool has_restarted, std::uint64_t step);
  void on_abandoned(std::uint64_t operation) { on_returned(operation, true, 0); }
  // The connection of a client ends. The checker forgets the client and its operations.
  void on_left(std::uint32_t client);

  // The server's question has arrived at the client.
  void on_question(std::uint32_t client, std::uint64_t epoch);
  // The client sends a message. Places grow.
  void on_sent(std::uint32_t client, std::uint64_t place);
  // The message has arrived. `epoch`: of the question that it answers.
  void on_arrived(std::uint32_t client, std::uint64_t place, std::optional<std::uint64_t> epoch,
                  std::uint64_t step);

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  struct Operation {
    std::uint32_t client = 0;
    bool is_disowned = false;  // the client has answered a question from after its beginning
  };
  struct Sent {
    std::uint64_t place = 0;
    // Operations that were pending, and began before the last question that had arrived.
    std::set<std::uint64_t> old_operations;
    bool was_early = false;  // one of these has returned since, without a restart
  };
  struct Client {
    std::optional<std::uint64_t> asked_epoch{};
    std::set<std::uint64_t> old_operations{};
    std::vector<Sent> in_flight{};
  };

  void fail(std::uint32_t client, std::uint64_t step);

  std::map<std::uint64_t, Operation> operations_;  // that are pending
  std::map<std::uint32_t, Client> clients_;
  Judgement judgement_{
      .verdict = Verdict::holds, .property = "quiescence.answered-early", .explanation = {}};
};

}  // namespace falafel::checkers
