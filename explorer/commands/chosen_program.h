// A program whose scenarios keep to the choices of the command line.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "explorer/commands/simulation_texts.h"
#include "explorer/program.h"

namespace falafel::command_line {

class ChosenProgram final : public explorer::Program {
 public:
  // `program` must outlive this one.
  ChosenProgram(const explorer::Program& program, SimulationChoices choices)
      : program_(program), choices_(std::move(choices)) {}

  std::string_view name() const override { return program_.name(); }
  void prepare_campaign() const override { program_.prepare_campaign(); }
  std::unique_ptr<explorer::Scenario> draw(std::uint64_t seed) const override {
    auto scenario = program_.draw(seed);
    apply(choices_, scenario->simulation);
    return scenario;
  }
  std::unique_ptr<explorer::Scenario> draw_for_proof(std::uint64_t seed) const override {
    auto scenario = program_.draw_for_proof(seed);
    apply(choices_, scenario->simulation);
    return scenario;
  }
  tl::expected<std::unique_ptr<explorer::Scenario>, std::string> parse(
      const nlohmann::json& json) const override {
    return program_.parse(json);
  }
  std::unique_ptr<explorer::Runner> create_runner() const override {
    return program_.create_runner();
  }
  std::span<const fabric::Probe> probes() const override { return program_.probes(); }
  std::map<std::string, std::uint64_t> conditions() const override { return program_.conditions(); }

 private:
  const explorer::Program& program_;
  SimulationChoices choices_;
};

}  // namespace falafel::command_line
