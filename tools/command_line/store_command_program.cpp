#include "tools/command_line/store_command_program.h"

#include <utility>
#include <vector>

#include "tools/command_line/compared_stores.h"

namespace falafel::command_line {

StoreCommandProgram::StoreCommandProgram() : variants_(variants_of_compared_stores()) {
  programs_.push_back(&falafel_);
  for (const std::string& store : compared_stores()) {
    compared_[store] = create_compared_store(store);
    programs_.push_back(compared_[store].get());
  }
  for (const auto& program : variants_) programs_.push_back(program.get());
}

CLI::Option* StoreCommandProgram::add_store_option(CLI::App& command) {
  std::vector<std::string> stores = compared_stores();
  stores.insert(stores.begin(), "falafel");
  return command
      .add_option("--store", store_,
                  "falafel, a store to compare it with, cluster: several servers of falafel, or "
                  "changing-cluster: several servers whose list changes")
      ->check(CLI::IsMember(stores))
      ->capture_default_str();
}

void StoreCommandProgram::add_program_option(CLI::App& command) { add_store_option(command); }

void StoreCommandProgram::add_ablate_options(CLI::App& command) {
  CLI::Option* const blocks = add_blocks_option(command, texts_);
  blocks->excludes(add_store_option(command));
  blocks->each([this](const std::string& text) {
    texts_.blocks = text;
    falafel_ = store_scenario::StoreProgram(*parse_campaign(texts_));
  });
  add_warm_restarts_option(command, texts_)->each([this](const std::string& text) {
    texts_.warm_restarts = text;
    falafel_ = store_scenario::StoreProgram(*parse_campaign(texts_));
  });
}

void StoreCommandProgram::add_fuzz_options(CLI::App& command) {
  add_program_option(command);
  add_campaign_options(command, texts_);
  command.add_flag("--paranoid", paranoid_, "check the memory whenever an entry changes");
}

tl::expected<std::unique_ptr<explorer::Program>, std::string> StoreCommandProgram::create() const {
  if (compared_.contains(store_)) return create_compared_campaign(store_, texts_);
  auto choices = parse_campaign(texts_);
  if (!choices) return tl::unexpected(choices.error());
  return std::make_unique<store_scenario::StoreProgram>(std::move(*choices), paranoid_);
}

const explorer::Program& StoreCommandProgram::selected() const {
  const std::string name = changing_cluster_program(texts_);
  for (const auto& variant : variants_) {
    if (store_ == changing_cluster_program({}) && variant->name() == name) return *variant;
  }
  const auto compared = compared_.find(store_);
  if (compared != compared_.end()) return *compared->second;
  return falafel_;
}

std::string StoreCommandProgram::title() const {
  const std::string protocol = texts_.protocol + " protocol";
  return store_ == "falafel" ? protocol : store_ + ", " + protocol;
}

}  // namespace falafel::command_line
