#include "fabric/sim/network/request.h"

namespace falafel::sim {

std::string_view to_string(RequestState state) {
  switch (state) {
    case RequestState::posted: return "posted";
    case RequestState::held_back: return "held back";
    case RequestState::overtakable: return "overtakable";
    case RequestState::refusal_deferred: return "about to be refused";
    case RequestState::moving: return "moving";
    case RequestState::in_gap: return "in gap";
    case RequestState::landing: return "landing";
    case RequestState::done: return "done";
  }
  return "unknown state";
}

}  // namespace falafel::sim
