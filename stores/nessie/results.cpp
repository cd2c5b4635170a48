#include "stores/nessie/results.h"

namespace falafel::nessie {

std::string_view to_string(GiveUp reason) {
  switch (reason) {
    case GiveUp::invalid_entry: return "invalid entry";
    case GiveUp::lost_swap: return "lost swap";
    case GiveUp::changed_index: return "changed index";
    case GiveUp::changed_entry: return "changed entry";
    case GiveUp::deadline: return "deadline";
  }
  return "?";
}

}  // namespace falafel::nessie
