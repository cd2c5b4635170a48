#include "tools/falafel/store_command_program.h"

#include <utility>

namespace falafel::command_line {

void StoreCommandProgram::add_fuzz_options(CLI::App& command) {
  add_campaign_options(command, texts_);
  command.add_flag("--paranoid", paranoid_, "check the memory whenever an entry changes");
}

tl::expected<std::unique_ptr<explorer::Program>, std::string> StoreCommandProgram::create() const {
  auto choices = parse_campaign(texts_);
  if (!choices) return tl::unexpected(choices.error());
  return std::make_unique<store_scenario::StoreProgram>(std::move(*choices), paranoid_);
}

}  // namespace falafel::command_line
