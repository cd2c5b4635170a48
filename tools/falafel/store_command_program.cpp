#include "tools/falafel/store_command_program.h"

#include <utility>

#include "tools/falafel/pilaf_campaign.h"

namespace falafel::command_line {

void StoreCommandProgram::add_program_option(CLI::App& command) {
  command.add_option("--store", store_, "falafel, or a store to compare it with")
      ->check(CLI::IsMember({"falafel", "pilaf", "pilaf-vo"}))
      ->capture_default_str();
}

void StoreCommandProgram::add_fuzz_options(CLI::App& command) {
  add_program_option(command);
  add_campaign_options(command, texts_);
  command.add_flag("--paranoid", paranoid_, "check the memory whenever an entry changes");
}

tl::expected<std::unique_ptr<explorer::Program>, std::string> StoreCommandProgram::create() const {
  if (store_ == "pilaf") return create_pilaf_campaign(pilaf::GetPath::reads, texts_);
  if (store_ == "pilaf-vo") return create_pilaf_campaign(pilaf::GetPath::messages, texts_);
  auto choices = parse_campaign(texts_);
  if (!choices) return tl::unexpected(choices.error());
  return std::make_unique<store_scenario::StoreProgram>(std::move(*choices), paranoid_);
}

const explorer::Program& StoreCommandProgram::selected() const {
  if (store_ == "pilaf") return *pilaf_;
  if (store_ == "pilaf-vo") return *pilaf_vo_;
  return falafel_;
}

std::string StoreCommandProgram::title() const {
  const std::string protocol = texts_.protocol + " protocol";
  return store_ == "falafel" ? protocol : store_ + ", " + protocol;
}

}  // namespace falafel::command_line
