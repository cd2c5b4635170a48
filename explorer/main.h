// The command line for programs of your own: fuzz, merge, report, replay, trace, shrink, ablate,
// prove, and check for recorded histories, with the same options and output as those of `falafel`.
//
//   int main(int count, char** arguments) {
//     const auto queue = falafel::check::program("queue", body);
//     const falafel::explorer::Program* const programs[] = {queue.get()};
//     return falafel::explorer::main(count, arguments, programs);
//   }
#pragma once

#include <span>

#include "explorer/program.h"

namespace falafel::explorer {

// Returns the exit status of the command (explorer/commands/commands.h). With several programs,
// fuzz, ablate and prove need --program; the other commands read the program's name from the replay
// file. At least one program; their names differ.
int main(int argument_count, char** arguments, std::span<const Program* const> programs);

}  // namespace falafel::explorer
