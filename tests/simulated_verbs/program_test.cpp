// Programs with a main, and with global variables of which each process has its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "simulated_verbs/program.h"
#include "tests/simulated_verbs/programs_of_test.h"

namespace falafel::simulated_verbs {
namespace {

void add_chain(Programs& programs) {
  programs.client("first", Program("chain", {"-n1", "-l"}));
  programs.client("second", Program("chain", {"-n2", "-l", "first"}));
  programs.client("third", Program("chain", {"-n", "3", "second"}));
}

TEST(Program, HasItsVariablesOnEachHostAndInEachRun) { expect_success(add_chain, {}, 300); }

TEST(Program, RunsTheSameWayAgain) { expect_same_run_twice(add_chain); }

constexpr std::uint64_t seeds = 40;

// Runs the schedules of some seeds in this process, and returns the hash of their traces.
std::uint64_t run_seeds(const AddPrograms& add, const check::Network& network = {}) {
  const check::WorldProgram program("seeds", network, as_body(add));
  const auto runner = program.create_runner();
  std::uint64_t hash = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto scenario = program.draw(seed);
    const auto strategy = explorer::make_seeded_strategy(*scenario, seed);
    hash = 31 * hash + runner->run(*scenario, *strategy).result.trace_hash;
  }
  return hash;
}

TEST(Program, BeginsAnewWhenItsHostRestarts) {
  const check::Network network{.faults = {sim::FaultKind::server_restart}};
  std::uint64_t starts = 0;
  const auto add = [&](Programs& programs) {
    programs.server("server", [&, program = Program("chain", {"-r"})] {
      ++starts;
      return program();
    });
    programs.client("client", [] {
      usleep(1'000);
      return 0;
    });
  };
  expect_success(add, network, 200);
  run_seeds(add, network);
  EXPECT_GT(starts, seeds);
}

TEST(Program, NeedsACopyForEachProcess) {
  const auto add = [](Programs& programs) {
    for (const char* host : {"1", "2", "3", "4", "5"}) {
      programs.server(host, Program("chain", {"-r"}));
    }
    programs.client("client", [] {
      usleep(1'000);
      return 0;
    });
  };
  EXPECT_DEATH(run_seeds(add), "program 'chain' has 4 copies");
}

TEST(Program, NeedsToBeInTheExecutable) { EXPECT_THROW(Program("another"), std::invalid_argument); }

TEST(Program, PrintsTheHashOfItsRuns) {
  const std::uint64_t hash = run_seeds(add_chain);
  EXPECT_NE(hash, 0U);
  std::printf("hash %lu\n", static_cast<unsigned long>(hash));
}

// The output of the test above in another process.
std::string hash_of_other_process() {
  const std::string command =
      "/proc/" + std::to_string(getpid()) + "/exe --gtest_filter=Program.PrintsTheHashOfItsRuns";
  const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
  std::string printed;
  for (int next = std::fgetc(output.get()); next != EOF; next = std::fgetc(output.get())) {
    printed += static_cast<char>(next);
  }
  return printed;
}

TEST(Program, RunsTheSameWayInAnotherProcess) {
  const std::string own = "hash " + std::to_string(run_seeds(add_chain)) + "\n";
  const std::string other = hash_of_other_process();
  EXPECT_NE(other.find(own), std::string::npos) << own << other;
}

}  // namespace
}  // namespace falafel::simulated_verbs
