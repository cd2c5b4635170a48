#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim {

// The names are part of the format of replay files.
std::string_view to_string(ChoiceKind kind) {
  switch (kind) {
    case ChoiceKind::schedule: return "schedule";
    case ChoiceKind::request: return "request";
    case ChoiceKind::placement_start: return "placement_start";
    case ChoiceKind::placement_length: return "placement_length";
    case ChoiceKind::packet: return "packet";
    case ChoiceKind::atomic_gap: return "atomic_gap";
    case ChoiceKind::answer: return "answer";
    case ChoiceKind::survivors: return "survivors";
    case ChoiceKind::fault_step: return "fault_step";
    case ChoiceKind::fault_target: return "fault_target";
    case ChoiceKind::fault_duration: return "fault_duration";
    case ChoiceKind::loss: return "loss";
    case ChoiceKind::reordering: return "reordering";
    case ChoiceKind::preemption: return "preemption";
    case ChoiceKind::program: return "program";
    case ChoiceKind::registration: return "registration";
    case ChoiceKind::visibility: return "visibility";
    case ChoiceKind::key: return "key";
    case ChoiceKind::detection: return "detection";
    case ChoiceKind::clock: return "clock";
  }
  return "unknown";
}

}  // namespace falafel::sim
