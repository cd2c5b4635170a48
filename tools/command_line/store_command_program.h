// The stores as the commands of the explorer see them: Falafel, and those that it is compared with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "explorer/commands/command_program.h"
#include "tools/command_line/campaign_options.h"
#include "tools/scenarios/store/program.h"

namespace falafel::command_line {

class StoreCommandProgram final : public CommandProgram {
 public:
  StoreCommandProgram();

  std::string executable() const override { return "falafel"; }
  std::string noun() const override { return "the store"; }
  void add_fuzz_options(CLI::App& command) override;
  void add_program_option(CLI::App& command) override;
  void add_ablate_options(CLI::App& command) override;
  tl::expected<std::unique_ptr<explorer::Program>, std::string> create() const override;
  const explorer::Program& selected() const override;
  std::string title() const override;
  std::span<const explorer::Program* const> programs() const override { return programs_; }

 private:
  CLI::Option* add_store_option(CLI::App& command);

  store_scenario::StoreProgram falafel_;
  std::map<std::string, std::unique_ptr<explorer::Program>> compared_;  // by the value of --store
  std::vector<std::unique_ptr<explorer::Program>> variants_;
  std::vector<const explorer::Program*> programs_;  // all of these
  std::string store_ = "falafel";
  CampaignTexts texts_;
  bool paranoid_ = false;
};

}  // namespace falafel::command_line
