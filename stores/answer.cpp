#include "stores/answer.h"

namespace falafel::stores {

std::string_view to_string(Answer answer) {
  switch (answer) {
    case Answer::found: return "found";
    case Answer::not_found: return "not found";
    case Answer::stored: return "stored";
    case Answer::deleted: return "deleted";
    case Answer::invalid_key: return "invalid key";
    case Answer::value_too_large: return "value too large";
    case Answer::out_of_memory: return "out of memory";
    case Answer::table_full: return "table full";
    case Answer::busy: return "busy";
    case Answer::unknown_outcome: return "unknown outcome";
    case Answer::disconnected: return "disconnected";
  }
  return "?";
}

}  // namespace falafel::stores
