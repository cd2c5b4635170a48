// Follows the messages between the server and its clients for the checker of silence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "checkers/judgement.h"
#include "checkers/silence.h"
#include "engine/layout/control_message.h"
#include "fabric/fabric.h"
#include "fabric/sim/trace.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

class SilenceWatch {
 public:
  // Both outlive this object. Nothing is judged if safeguards are off, or if the server's processor
  // may be preempted: a message can then arrive between its look at messages and its verdict.
  SilenceWatch(const Scenario& scenario, const StoreWorld& world);

  void introduce(const sim::Subject& subject);
  // Ignores events of other kinds.
  void observe(const sim::TraceEvent& event);
  void observe_pause(const sim::Pause& pause);

  const checkers::Judgement& judgement() const { return silence_.judgement(); }

 private:
  struct Sent {
    std::uint64_t place = 0;  // in the send queue
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
  };
  // The messages of the server on one of its queue pairs.
  struct Channel {
    std::vector<Sent> in_flight;
    std::uint64_t buffers_in_use = 0;  // at most, as the server knows
    // Messages that have completed: how often the server has yet to read before it surely knows.
    std::vector<std::uint32_t> completed;
    std::set<std::uint64_t> regions;          // that the client holds, by incarnation
    std::optional<std::uint64_t> quiescence;  // what the server has asked
    std::optional<std::uint64_t> end;
    std::optional<std::uint64_t> regions_up_to;
  };

  void admit_new_clients();
  Channel* channel_of_client(std::uint32_t client_queue_pair, std::uint32_t& server_queue_pair);
  void on_posted(const sim::TraceEvent& event);
  void on_completed(const sim::TraceEvent& event);
  void on_delivered(const sim::TraceEvent& event);
  void on_question(std::uint32_t client, Channel& channel, const engine::ControlMessage& message,
                   const Sent& sent);
  void on_answer(std::uint32_t client, Channel& channel, const engine::ControlMessage& message);
  void on_fiber_runs(const sim::TraceEvent& event);
  void on_error(const sim::TraceEvent& event);
  void on_jump(const sim::TraceEvent& event, bool has_nothing_to_do);

  const StoreWorld& world_;
  const sim::SimulationOptions& options_;
  const bool is_judged_;
  checkers::Silence silence_;
  std::set<std::uint32_t> server_queue_pairs_;
  std::set<std::uint32_t> hostile_queue_pairs_;
  std::map<std::uint32_t, std::uint64_t> new_queue_pairs_;  // of the server, and since when
  std::map<std::uint32_t, Channel> channels_;               // by the server's queue pair
  std::map<std::uint32_t, std::uint32_t> server_side_;      // by the client's queue pair
  std::set<std::uint32_t> readers_;                         // fibers that read messages
  std::set<std::uint32_t> watchers_;                        // fibers that look for silence
  std::uint64_t now_ns_ = 0;
  std::uint64_t jumped_ns_ = 0;
  bool is_server_paused_ = false;
};

}  // namespace falafel::store_scenario
