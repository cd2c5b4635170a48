// The report of a process that does not end says where it is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "processes/child_process.h"
#include "tests/hang_limit.h"
#include "tools/command_line/acceptance/child.h"
#include "tools/command_line/acceptance/whereabouts.h"

namespace falafel::acceptance {
namespace {

using testing::AssertionResult;

AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in: " << text;
}

int sleep_for_ever() {
  while (true) ::pause();
}

Record& begin(Log& log, checkers::OperationKind kind, std::uint32_t key, std::uint64_t call_ns) {
  Record& record = log.records.at(log.size);
  record.kind = kind;
  record.key = key;
  record.call_ns = call_ns;
  ++log.size;
  return record;
}

TEST(AcceptanceWhereabouts, AProcessSleepsInTheKernel) {
  processes::ChildProcess child(&sleep_for_ever);
  const auto deadline = std::chrono::steady_clock::now() + hang_limit;
  std::string found;
  do {  // it has just been forked
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    found = whereabouts_of(child.id());
  } while (!contains(found, "(sleeping)") && std::chrono::steady_clock::now() < deadline);
  EXPECT_TRUE(contains(found, "process " + std::to_string(child.id()) + ": thread "));
  EXPECT_TRUE(contains(found, "'acceptance_test' S (sleeping) in "));
  child.kill();
  child.wait();
  EXPECT_TRUE(contains(whereabouts_of(child.id()), "is gone"));
}

TEST(AcceptanceWhereabouts, AChildThatDoesNotEndIsFound) {
  const auto result = run_in_child(std::chrono::seconds(1), [] {
    sleep_for_ever();
    return nlohmann::json();
  });
  ASSERT_FALSE(result);
  EXPECT_TRUE(contains(result.error(), "did not end within 1 s; process "));
}

TEST(AcceptanceWhereabouts, AClientsLogTellsWhatItDoes) {
  const auto log = std::make_unique<Log>();
  EXPECT_EQ(whereabouts_of(*log, 0), "it is connecting");
  log->is_connected = true;
  begin(*log, checkers::OperationKind::get, 3, 0).has_returned = true;
  begin(*log, checkers::OperationKind::set, 19, 500'000'000);
  begin(*log, checkers::OperationKind::remove, 4, 2'000'000'000);
  EXPECT_EQ(whereabouts_of(*log, 3'000'000'000),
            "it is connected and works; 3 operations were begun, 2 have no answer: "
            "set of key 19 since 2.5 s, delete of key 4 since 1.0 s");
  for (std::uint32_t number = 0; number < log->size; ++number)
    log->records.at(number).has_returned = true;
  log->end_ns = 3;
  EXPECT_EQ(whereabouts_of(*log, 4),
            "it has ended its work and disconnects; 3 operations were begun, 0 have no answer");
  log->has_lost = true;
  EXPECT_TRUE(contains(whereabouts_of(*log, 4), "its connection broke, and it ends"));
}

}  // namespace
}  // namespace falafel::acceptance
