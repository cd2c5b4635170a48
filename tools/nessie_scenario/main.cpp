// The explorer's commands (fuzz, replay, shrink, trace, ablate) for NessieCD.
#include <array>

#include "explorer/main.h"
#include "tools/nessie_scenario/program.h"

int main(int count, char** arguments) {
  using falafel::nessie_scenario::Variant;
  const auto hardened = falafel::nessie_scenario::make_program(Variant::hardened);
  const auto published = falafel::nessie_scenario::make_program(Variant::published);
  const std::array<const falafel::explorer::Program*, 2> programs{hardened.get(), published.get()};
  return falafel::explorer::main(count, arguments, programs);
}
