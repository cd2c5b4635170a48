// The store as the commands of the explorer see it.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "explorer/commands/command_program.h"
#include "tools/falafel/campaign_options.h"
#include "tools/store_scenario/program.h"

namespace falafel::command_line {

class StoreCommandProgram final : public CommandProgram {
 public:
  std::string executable() const override { return "falafel"; }
  std::string noun() const override { return "the store"; }
  void add_fuzz_options(CLI::App& command) override;
  void add_program_option(CLI::App&) override {}
  tl::expected<std::unique_ptr<explorer::Program>, std::string> create() const override;
  const explorer::Program& selected() const override { return store_; }
  std::string title() const override { return texts_.protocol + " protocol"; }
  std::span<const explorer::Program* const> programs() const override { return programs_; }

 private:
  store_scenario::StoreProgram store_;
  std::array<const explorer::Program*, 1> programs_{&store_};
  CampaignTexts texts_;
  bool paranoid_ = false;
};

}  // namespace falafel::command_line
