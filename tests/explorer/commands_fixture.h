// The common parts of the tests of commands: small programs that fail in different ways, and a
// fixture that runs a command on one of them in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explorer/check.h"
#include "explorer/main.h"

namespace falafel::explorer::commands_test {

// Two clients increment a word by READ and WRITE.
void lose_updates(check::World& world);
void lose_updates_unjudged(check::World& world);
void hold(check::World& world);
// Its condition is never reached.
void reach_nothing(check::World& world);
void abort_always(check::World& world);

struct Outcome {
  int status = 0;
  std::string output;
  std::string errors;
};

// Runs the command that the arguments name, in a process with these programs.
Outcome run_main(std::vector<std::string> arguments, std::vector<const Program*> programs);

std::string content(const std::string& path);

class Commands : public testing::Test {
 protected:
  Commands() { std::filesystem::remove_all(folder_); }

  Outcome run(const check::Body& body, std::vector<std::string> arguments) const;
  // 100 schedules, unless the arguments say how many.
  Outcome fuzz(const check::Body& body, const std::vector<std::string>& more) const;
  nlohmann::json fuzz_json(const check::Body& body, std::vector<std::string> more) const;
  // The replay file of a lost update.
  std::string find_lost_update() const;

  // Several processes may run these tests at the same time.
  const std::string folder_ = testing::TempDir() + "commands_test_" + std::to_string(getpid());
};

}  // namespace falafel::explorer::commands_test
