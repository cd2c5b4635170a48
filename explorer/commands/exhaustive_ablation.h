// Tests in small worlds whether safeguards are needed: explores each world exhaustively, with the
// safeguard and without it (docs/proofs.md).
#pragma once

#include <string>
#include <vector>

#include "explorer/program.h"

namespace falafel::command_line {

struct ExhaustiveAblationOptions {
  double seconds = 60;            // for each of the two explorations
  std::vector<std::string> only;  // safeguards; empty: all
  std::string output = ".";       // directory for replay files
};

// Prints a table. Without a safeguard, the exploration goes on after the first violation, so the
// schedule that it saves is the shortest one if the exploration is complete. Returns the exit
// status of `ablate`.
int ablate_exhaustively(const explorer::Program& program, const ExhaustiveAblationOptions& options);

}  // namespace falafel::command_line
