// The stores as the commands of the explorer see them: Falafel, and those that it is compared with.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "explorer/commands/command_program.h"
#include "tools/falafel/campaign_options.h"
#include "tools/pilaf_scenario/program.h"
#include "tools/store_scenario/program.h"

namespace falafel::command_line {

class StoreCommandProgram final : public CommandProgram {
 public:
  std::string executable() const override { return "falafel"; }
  std::string noun() const override { return "the store"; }
  void add_fuzz_options(CLI::App& command) override;
  void add_program_option(CLI::App& command) override;
  tl::expected<std::unique_ptr<explorer::Program>, std::string> create() const override;
  const explorer::Program& selected() const override;
  std::string title() const override;
  std::span<const explorer::Program* const> programs() const override { return programs_; }

 private:
  store_scenario::StoreProgram falafel_;
  std::unique_ptr<explorer::Program> pilaf_ = pilaf_scenario::make_program(pilaf::GetPath::reads);
  std::unique_ptr<explorer::Program> pilaf_vo_ =
      pilaf_scenario::make_program(pilaf::GetPath::messages);
  std::array<const explorer::Program*, 3> programs_{&falafel_, pilaf_.get(), pilaf_vo_.get()};
  std::string store_ = "falafel";
  CampaignTexts texts_;
  bool paranoid_ = false;
};

}  // namespace falafel::command_line
