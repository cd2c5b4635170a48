#include "fabric/sim/run_result.h"

namespace falafel::sim {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::completed: return "completed";
    case Outcome::stuck: return "stuck";
    case Outcome::step_limit: return "step limit";
    case Outcome::stopped: return "stopped";
    case Outcome::spinning: return "spinning";
    case Outcome::diverged: return "diverged";
  }
  return "unknown outcome";
}

std::string_view to_string(SimulatorProbe probe) {
  switch (probe) {
    case SimulatorProbe::completion_before_placement: return "completion before placement";
    case SimulatorProbe::read_overtaken_by_write: return "read overtaken by write";
    case SimulatorProbe::atomic_met_held_word: return "atomic met held word";
    case SimulatorProbe::processor_store_lost: return "processor store lost";
    case SimulatorProbe::request_waited_for_fence: return "request waited for fence";
    case SimulatorProbe::request_waited_for_outstanding_limit:
      return "request waited for outstanding limit";
    case SimulatorProbe::send_waited_for_receive: return "send waited for receive";
    case SimulatorProbe::orphan_applied: return "orphan applied";
    case SimulatorProbe::orphan_dropped: return "orphan dropped";
    case SimulatorProbe::write_torn_by_failure: return "write torn by failure";
    case SimulatorProbe::access_revoked_midway: return "access revoked midway";
    case SimulatorProbe::fence_waited_for_landing: return "fence waited for landing";
    case SimulatorProbe::datagram_dropped: return "datagram dropped";
    case SimulatorProbe::processor_saw_old_word: return "processor saw old word";
    case SimulatorProbe::failure_before_landing: return "failure before landing";
    case SimulatorProbe::load_passed_store: return "load passed store";
  }
  return "unknown probe";
}

}  // namespace falafel::sim
