// Follows requests for regions, their answers, and the server's questions for regions, for the
// checker of grants.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "checkers/grants.h"
#include "checkers/history.h"
#include "checkers/judgement.h"
#include "engine/client/results.h"
#include "engine/layout/control_message.h"
#include "engine/server/server_inspection.h"
#include "fabric/fabric.h"
#include "fabric/sim/trace.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

class GrantWatch {
 public:
  // Both outlive this object. Nothing is judged if safeguards are off.
  GrantWatch(const Scenario& scenario, const StoreWorld& world);

  void introduce(const sim::Subject& subject);
  // Ignores events of other kinds.
  void observe(const sim::TraceEvent& event);

  // `queue_pair`: of the connection.
  void on_operation_called(fabric::FiberId fiber, std::uint32_t queue_pair,
                           const checkers::Operation& operation, std::uint64_t time_ns);
  void on_operation_returned(fabric::FiberId fiber, engine::Answer answer);
  void on_operation_abandoned(fabric::FiberId fiber);

  const checkers::Judgement& judgement() const { return grants_.judgement(); }

 private:
  struct Sent {
    std::uint64_t place = 0;                  // in the send queue
    std::optional<std::uint64_t> freed_ns{};  // as of the oldest pending SET
    std::uint64_t idle_messages = 0;
  };
  // The server has denied a request for lack of room, just before it posted a message.
  struct Denial {
    std::uint64_t place = 0;  // of the message, in the send queue
    std::uint64_t measured_ns = 0;
    std::uint64_t step = 0;
  };
  // A client of the scenario, by its queue pair.
  struct Client {
    std::vector<Sent> in_flight{};
    std::vector<Denial> denials{};            // of messages to it that are in flight
    std::uint64_t operations = 0;             // that are pending
    std::optional<std::uint64_t> freed_ns{};  // the last DELETE that returned began then
    bool has_new_question = false;            // that the client does not know yet
    std::uint64_t idle_messages = 0;          // since it knows the question, without operations
    bool lacked_registration = false;         // somebody, since its request arrived
  };
  struct Operation {
    std::uint32_t queue_pair = 0;
    std::uint64_t called_ns = 0;
    bool stores_value = false;
    std::optional<std::uint64_t> freed_ns{};  // the last DELETE that had returned then began then
  };
  // A fiber that matters here: each one of the server, and those of clients that receive messages.
  struct Fiber {
    bool is_of_server = false;
    bool grants_regions = false;
    std::uint32_t queue_pair = 0;  // of the client whose messages it receives
  };
  // The numbers of the server's decisions.
  struct Counts {
    std::uint64_t denied = 0;
    std::uint64_t granted = 0;
    std::uint64_t asked = 0;
  };

  void on_posted(const sim::TraceEvent& event);
  void on_posted_by_client(std::uint32_t queue_pair, Client& client, const sim::TraceEvent& event);
  void on_posted_by_server(const sim::TraceEvent& event);
  void on_delivered(const sim::TraceEvent& event);
  void on_delivered_to_server(std::uint32_t queue_pair, Client& client,
                              const sim::TraceEvent& event);
  void on_delivered_to_client(std::uint32_t queue_pair, Client& client, std::uint64_t place,
                              const engine::ControlMessage& message);
  void on_fiber_runs(const sim::TraceEvent& event);
  void on_error(std::uint32_t queue_pair);
  void note_decision(Client& client, const Counts& next, const sim::TraceEvent& event);
  void judge_question(std::uint64_t step);
  checkers::MemoryView view_of(const engine::ServerBooks& books) const;
  Counts counts_of(const engine::ServerBooks& books) const;
  // The SET of the client that has been pending for the longest time. Null: none is pending.
  const Operation* oldest_set(std::uint32_t queue_pair) const;

  const Scenario& scenario_;
  const StoreWorld& world_;
  const bool is_judged_;
  checkers::Grants grants_;
  std::map<std::uint32_t, Client> clients_;
  std::map<fabric::FiberId, Operation> operations_;
  std::map<std::string, std::uint32_t, std::less<>> newest_of_host_;  // queue pair
  std::unordered_map<fabric::FiberId, Fiber> fibers_;
  bool is_server_running_ = false;
  Counts counts_;
  // The fiber that grants regions waits for a buffer to ask a client, or has continued to ask
  // since. It decided to ask before, from other books.
  bool is_ask_waiting_ = false;
  bool continues_to_ask_ = false;
};

}  // namespace falafel::store_scenario
