// explorer::main runs the commands on any program that links it.
#include "explorer/main.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "explorer/check.h"
#include "tests/explorer/commands_fixture.h"

namespace falafel::explorer {
namespace {

using commands_test::Outcome;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t all_are_connected_ns = 1'000'000;

// Clients increment a counter, unless the safeguard is on by an atomic.
void count_up(check::World& world) {
  std::shared_ptr<fabric::MemoryBlock> memory;
  const bool is_atomic = world.safeguard("atomic-increment");
  auto& both = world.sometimes("both clients have counted");
  world.name(0, fabric::word_bytes, "the counter");
  world.server("server", [&](fabric::Host& host) {
    check::MemoryServer server(host, 64);
    memory = server.memory();
    server.serve();
  });
  world.clients(2, [&](fabric::Host& host, std::uint32_t) {
    check::RemoteMemory counter(host, "server");
    host.sleep_until(all_are_connected_ns);
    if (is_atomic) {
      counter.fetch_and_add(0, 1);
    } else {
      counter.write(0, counter.read(0) + 1);
    }
  });
  world.at_rest([&] {
    both.reached_if(check::word(memory, 0) == 2);
    world.check(check::word(memory, 0) == 2, "counter.lost-update", "an increment is missing");
  });
  world.run();
}

class Main : public testing::Test {
 protected:
  Main() { std::filesystem::remove_all(folder_); }

  Outcome run(std::vector<std::string> arguments) const {
    return commands_test::run_main(std::move(arguments), {counter_.get(), other_.get()});
  }

  // Finds the lost update without the safeguard, and returns its replay file.
  std::string find_lost_update() {
    const Outcome ablation = run({"ablate", "--seconds-per-safeguard", "20", "--shrink-seconds",
                                  "2", "--program", "counter", "--output", folder_, "--json"});
    EXPECT_EQ(ablation.status, 0) << ablation.errors;
    const auto rows = nlohmann::json::parse(ablation.output);
    EXPECT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0]["safeguard"], "atomic-increment");
    EXPECT_EQ(rows[0]["property"], "counter.lost-update");
    return rows[0]["replay"];
  }

  const std::string folder_ = testing::TempDir() + "main_test";
  const std::unique_ptr<Program> counter_ = check::program("counter", count_up);
  const std::unique_ptr<Program> other_ = check::program("other", count_up);
};

TEST_F(Main, FuzzesAProgram) {
  const Outcome fuzz =
      run({"fuzz", "--program", "counter", "--schedules", "200", "--output", folder_, "--json"});
  EXPECT_EQ(fuzz.status, 0) << fuzz.output << fuzz.errors;
  const auto json = nlohmann::json::parse(fuzz.output);
  EXPECT_EQ(json["schedules"], 200);
  EXPECT_TRUE(json["violations"].empty());
  EXPECT_EQ(json["conditions"]["both clients have counted"], 200);
}

// A script for several programs then works for one of them alone.
TEST_F(Main, TakesTheNameOfTheOnlyProgram) {
  const auto fuzz = [&](const std::string& name) {
    return commands_test::run_main(
        {"fuzz", "--program", name, "--schedules", "10", "--output", folder_}, {counter_.get()});
  };
  EXPECT_EQ(fuzz("counter").status, 0);
  const Outcome unknown = fuzz("another");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("--program"));
}

TEST_F(Main, TakesOptionsOfTheSimulator) {
  const auto hash = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"fuzz", "--program", "counter", "--schedules",
                                          "50",   "--output",  folder_,   "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return nlohmann::json::parse(run(arguments).output)["campaign_hash"].get<std::string>();
  };
  EXPECT_EQ(hash({}), hash({}));
  EXPECT_EQ(hash({}), hash({"--jobs", "2"}));
  EXPECT_NE(hash({}), hash({"--faults", "none"}));
  EXPECT_NE(hash({}), hash({"--simulator", "step_duration_ns=7"}));
  EXPECT_NE(hash({"--strategy", "pct"}), hash({"--strategy", "random"}));
  const Outcome wrong = run({"fuzz", "--program", "counter", "--faults", "rain"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("--faults rain"));
}

// The command needs no --program, because it judges files.
TEST_F(Main, ChecksRecordedHistories) {
  std::filesystem::create_directories(folder_);
  const auto check = [&](const std::string& found) {
    const std::string path = folder_ + "/pop" + found + ".jsonl";
    std::ofstream(path) << R"({"specification": "queue", "initial": [7, 8]})"
                        << "\n"
                        << R"({"client": 1, "operation": "pop", "call": 1, "return": 2, )"
                        << R"("outcome": "answered", "result": )" << found << "}\n";
    // The limit is that of the process, which has run other tests before.
    return run({"check", "--format", "specification", "--memory-mib", "16384", path});
  };
  const Outcome right = check("7");
  EXPECT_EQ(right.status, 0) << right.errors;
  EXPECT_THAT(right.output, HasSubstr(": linearizable (1 operations)"));
  const Outcome wrong = check("8");
  EXPECT_EQ(wrong.status, 1) << wrong.errors;
  EXPECT_THAT(wrong.output, HasSubstr("client 1: pop -> 8"));
  const Outcome unreadable = check("[]");
  EXPECT_EQ(unreadable.status, 2);
  EXPECT_THAT(unreadable.errors, HasSubstr(":2: \"result\" is []"));
}

// Every strategy finds the lost update, and the recorded run repeats.
TEST_F(Main, AblatesWithTheStrategyOfTheCommandLine) {
  std::set<std::uint64_t> schedules;
  for (const char* strategy : {"random", "pct", "pos", "urw"}) {
    const Outcome ablation =
        run({"ablate", "--schedules", "2000", "--shrink-seconds", "0", "--strategy", strategy,
             "--faults", "none", "--program", "counter", "--output", folder_, "--json"});
    EXPECT_EQ(ablation.status, 0) << strategy << ablation.errors;
    const auto rows = nlohmann::json::parse(ablation.output);
    schedules.insert(rows[0]["schedules"].get<std::uint64_t>());
    EXPECT_EQ(run({"replay", rows[0]["replay"], "--quiet"}).status, 1) << strategy;
    std::ifstream file(rows[0]["replay"].get<std::string>());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_THAT(text, HasSubstr(fmt::format("\"strategy\": \"{}\"", strategy)));
  }
  EXPECT_GT(schedules.size(), 1U);
  EXPECT_EQ(run({"ablate", "--program", "counter", "--strategy", "clever"}).status, 2);
}

// The number of schedules is that of the first failing one, however many more ran.
TEST_F(Main, CountsTheSchedulesUntilTheFirstFailingOne) {
  const auto ablate = [&](std::uint64_t schedules) {
    const Outcome ablation =
        run({"ablate", "--schedules", std::to_string(schedules), "--shrink-seconds", "0",
             "--strategy", "pct", "--program", "counter", "--output", folder_, "--json"});
    return nlohmann::json::parse(ablation.output)[0];
  };
  const auto found = ablate(2'000);
  const std::uint64_t needed = found["schedules"];
  ASSERT_TRUE(found["caught"]);
  ASSERT_GT(needed, 1U) << "0 schedules would be without a limit";
  EXPECT_TRUE(ablate(needed)["caught"]);
  EXPECT_FALSE(ablate(needed - 1)["caught"]);
}

TEST_F(Main, AblatesReplaysAndShrinks) {
  const std::string path = find_lost_update();
  const Outcome replay = run({"replay", path});
  EXPECT_EQ(replay.status, 1) << replay.errors;
  EXPECT_THAT(replay.output, HasSubstr("WRITE places the counter: 1"));
  EXPECT_THAT(replay.output, HasSubstr("VIOLATED counter.lost-update"));
  const std::string smaller = folder_ + "/smaller.replay";
  const Outcome shrink = run({"shrink", path, "--output", smaller, "--seconds", "1"});
  EXPECT_EQ(shrink.status, 0) << shrink.errors;
  EXPECT_EQ(run({"replay", smaller, "--quiet"}).status, 1);
}

TEST_F(Main, WritesPages) {
  const std::string path = find_lost_update();
  const std::string page = folder_ + "/page.html";
  const Outcome trace = run({"trace", path, "--output", page});
  EXPECT_EQ(trace.status, 0) << trace.errors;
  EXPECT_TRUE(std::filesystem::exists(page));
}

TEST_F(Main, RefusesWhatIsNoReplayFileOfItsPrograms) {
  const Outcome missing = run({"replay", folder_ + "/missing.replay"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.errors, HasSubstr("missing.replay"));
  EXPECT_EQ(run({"fuzz", "--program", "unknown"}).status, 2);
}

TEST_F(Main, ProvesAProgram) {
  const Outcome proof =
      run({"prove", "--program", "counter", "--explored-from", "1000000", "--output", folder_});
  EXPECT_EQ(proof.status, 0) << proof.output << proof.errors;
  EXPECT_THAT(proof.output, HasSubstr("seed 1 chooses"));
  EXPECT_THAT(proof.output, HasSubstr("complete: "));
  EXPECT_THAT(proof.output, HasSubstr("all properties hold"));
}

TEST_F(Main, RefusesAProofThatExploresNothing) {
  const Outcome proof =
      run({"prove", "--program", "counter", "--explored-from", "900000000", "--output", folder_});
  EXPECT_EQ(proof.status, 2) << proof.output;
  EXPECT_THAT(proof.output, HasSubstr("empty: "));
  EXPECT_THAT(proof.output, Not(HasSubstr("all properties hold")));
  EXPECT_THAT(proof.errors, HasSubstr("World::ready"));
}

TEST_F(Main, ProvesUpToBounds) {
  const auto prove = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"prove",           "--program", "counter", "--output",
                                          "--explored-from", "1000000",   "--json"};
    arguments.insert(arguments.begin() + 4, folder_);
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments);
    auto json = nlohmann::json::parse(outcome.output);
    json["status"] = outcome.status;
    return json;
  };
  EXPECT_EQ(prove({"--preemptions", "0"})["coverage"], "complete up to 0 preemptions");
  EXPECT_EQ(prove({"--steps", "19"})["coverage"], "complete up to the step limit");
  EXPECT_EQ(prove({"--max-faults", "1", "--simulator", "fault_rate.client_pause=1"})["coverage"],
            "complete up to 1 fault");
  const auto stopped = prove({"--executions", "1"});
  EXPECT_EQ(stopped["coverage"], "stopped");
  EXPECT_EQ(stopped["status"], 4);
  EXPECT_EQ(stopped["executions"].get<int>() + stopped["redundant"].get<int>(), 1);
}

TEST_F(Main, ProvesInJobsAndGoesOnFromACheckpoint) {
  const std::string checkpoint = folder_ + "/proof.json";
  const auto prove = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"prove",           "--program",    "counter",
                                          "--explored-from", "1000000",      "--output",
                                          folder_,           "--checkpoint", checkpoint};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  const Outcome stopped = prove({"--jobs", "2", "--seconds", "0"});
  EXPECT_EQ(stopped.status, 4) << stopped.output << stopped.errors;
  EXPECT_THAT(stopped.output, HasSubstr("the same command goes on from " + checkpoint));
  const Outcome proof = prove({"--jobs", "2"});
  EXPECT_EQ(proof.status, 0) << proof.output << proof.errors;
  EXPECT_THAT(proof.output, HasSubstr("all properties hold"));
  const Outcome other = prove({"--steps", "123"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.errors, HasSubstr("another simulation"));
}

TEST_F(Main, ProvesWithMoreAndMorePreemptions) {
  const Outcome proof = run({"prove", "--program", "counter", "--explored-from", "1000000",
                             "--iterate", "--output", folder_});
  EXPECT_EQ(proof.status, 0) << proof.output << proof.errors;
  EXPECT_THAT(proof.output, HasSubstr("complete up to 0 preemptions: "));
  EXPECT_THAT(proof.output, HasSubstr("complete up to 1 preemption: "));
  EXPECT_THAT(proof.output, HasSubstr("\ncomplete: "));
}

// The replay file of a failing run names a scenario, whose schedules are explored again.
TEST_F(Main, RefutesTheScenarioOfAReplayFile) {
  const std::string path = find_lost_update();
  const Outcome proof = run({"prove", "--program", "counter", "--replay", path, "--explored-from",
                             "1000000", "--shrink-seconds", "1", "--output", folder_});
  EXPECT_EQ(proof.status, 1) << proof.output << proof.errors;
  EXPECT_THAT(proof.output, HasSubstr("stopped at a violation: "));
  EXPECT_THAT(proof.output, HasSubstr("VIOLATED counter.lost-update"));
  const std::string found = folder_ + "/counter.lost-update-exhaustive.replay";
  EXPECT_THAT(proof.output, HasSubstr("replay " + found));
  EXPECT_EQ(run({"replay", found, "--quiet"}).status, 1);
}

}  // namespace
}  // namespace falafel::explorer
