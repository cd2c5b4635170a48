#include "explorer/commands/command_program.h"

#include "fabric/sim/replay_file/replay_file.h"

namespace falafel::command_line {

const explorer::Program& program_of_replay(const CommandProgram& programs,
                                           const std::string& path) {
  const auto file = sim::load_replay_file(path);
  for (const explorer::Program* const program : programs.programs()) {
    if (file && file->scenario == program->name()) return *program;
  }
  return *programs.programs().front();
}

}  // namespace falafel::command_line
