#include "tools/scenarios/nessie/kind.h"

namespace falafel::nessie_scenario {

std::string name_of(const Kind& kind) {
  std::string name;
  switch (kind.architecture) {
    case nessie::Architecture::client_driven: name = "nessie-cd"; break;
    case nessie::Architecture::server_driven: name = "nessie-sd"; break;
    case nessie::Architecture::hybrid: name = "nessie-hy"; break;
  }
  return kind.variant == Variant::hardened ? name : name + "-published";
}

}  // namespace falafel::nessie_scenario
