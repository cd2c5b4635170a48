#include "checkers/judgement.h"

namespace falafel::checkers {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return "holds";
    case Verdict::violated: return "violated";
    case Verdict::unknown: return "unknown";
  }
  return "no verdict";
}

}  // namespace falafel::checkers
