// The store's parts of an acceptance run on the simulator: recorded clients whose history is
// judged, and an intruder; and that what is wrong is reported.
#include <gtest/gtest.h>

#include <memory>

#include "tests/command_line/acceptance/faulty_host.h"
#include "tests/command_line/acceptance/simulated_run.h"
#include "tools/command_line/acceptance/intruder.h"
#include "tools/command_line/acceptance/peer.h"
#include "tools/command_line/acceptance/recorded_load.h"

namespace falafel::acceptance {
namespace {

using fabric::Opcode;
using fabric::WorkRequest;

struct StoreRun {
  std::vector<std::unique_ptr<Log>> logs;
  checkers::Judgement judgement;
  bool memory_holds = false;
  std::string text;  // of the server

  std::vector<const Log*> pointers() const {
    std::vector<const Log*> all;
    for (const auto& log : logs) all.push_back(log.get());
    return all;
  }
};

// Two clients on the host, then a read-back.
StoreRun run_store_on(const Fault& fault) {
  StoreRun run;
  for (int log = 0; log < 3; ++log) run.logs.push_back(std::make_unique<Log>());
  run_with_server({}, 1, [&](fabric::Host& host) {
    const auto faulty = make_faulty_host(host, fault);
    Peer peer(host, serving_host);
    peer.ask({.task = Task::begin_store});
    LoadPlace place{.server = serving_host,
                    .round = 1,
                    .keys = 8,
                    .duration_ns = fabric::second_ns,
                    .most_operations = 300};
    std::vector<fabric::FiberId> fibers;
    for (std::uint32_t client = 0; client < 2; ++client) {
      fibers.push_back(host.spawn({.name = "client"}, [&, place, client]() mutable {
        place.client = client;
        EXPECT_EQ(run_recorded_client(*faulty, place, *run.logs[client]), "");
      }));
    }
    for (const fabric::FiberId fiber : fibers) host.join(fiber);
    place.client = 2;
    EXPECT_EQ(read_back(*faulty, place, *run.logs[2]), "");
    const Reply reply = peer.ask({.task = Task::end_store});
    run.memory_holds = reply.words[0] != 0;
    run.text.assign(reply.text.data(), reply.text_bytes);
  });
  run.judgement = judge(run.pointers());
  return run;
}

TEST(AcceptanceStore, AHistoryWithoutFaultsHolds) {
  const StoreRun run = run_store_on({});
  EXPECT_EQ(run.judgement.verdict, checkers::Verdict::holds) << run.judgement.explanation;
  EXPECT_TRUE(run.memory_holds) << run.text;
  EXPECT_GE(run.logs[0]->size, 300U);
  EXPECT_EQ(run.logs[2]->size, 16U);
  EXPECT_NE(run.text.find("regions granted"), std::string::npos);
  std::uint64_t found = 0;
  for (const auto& operation : history_of(run.pointers()))
    found += operation.answer == checkers::Answer::found;
  EXPECT_GT(found, 50U);
}

// The end of each container is missing.
TEST(AcceptanceStore, WritesThatDoNotArriveAreReported) {
  const StoreRun run = run_store_on({.of_chain = [](std::vector<WorkRequest>& chain) {
    for (WorkRequest& request : chain) {
      if (request.opcode == Opcode::write && request.segments.empty()) request.length_bytes /= 2;
    }
  }});
  EXPECT_EQ(run.judgement.verdict, checkers::Verdict::violated);
}

TEST(AcceptanceStore, AnAnswerThatNoOrderExplainsIsReported) {
  const StoreRun run = run_store_on({});
  for (std::uint32_t number = 0; number < run.logs[2]->size; ++number) {
    Record& record = run.logs[2]->records[number];
    if (record.answer != checkers::Answer::found) continue;
    record.value ^= 1;
    EXPECT_EQ(judge(run.pointers()).verdict, checkers::Verdict::violated);
    return;
  }
  FAIL() << "the read-back found nothing";
}

// The operation of a killed client may have happened or not.
TEST(AcceptanceStore, OperationsWithoutAnAnswerAreInDoubt) {
  Log writer;
  Log reader;
  const auto add = [](Log& log, checkers::OperationKind kind, std::uint64_t call_ns) -> Record& {
    Record& record = log.records.at(log.size);
    record.kind = kind;
    record.call_ns = call_ns;
    ++log.size;
    return record;
  };
  add(writer, checkers::OperationKind::set, 10).value = 5;
  for (const checkers::Answer answer : {checkers::Answer::not_found, checkers::Answer::found}) {
    Record& read = add(reader, checkers::OperationKind::get, 20 + 10 * reader.size);
    read.answer = answer;
    read.value = 5;
    read.return_ns = read.call_ns + 1;
    read.has_returned = true;
  }
  const std::vector<const Log*> logs{&writer, &reader};
  EXPECT_EQ(judge(logs).verdict, checkers::Verdict::holds);
  std::swap(reader.records[0].answer, reader.records[1].answer);
  EXPECT_EQ(judge(logs).verdict, checkers::Verdict::violated);
}

PartReport intruder_on(const Fault& fault) {
  PartReport report;
  run_with_server({}, 1, [&](fabric::Host& host) {
    Peer(host, serving_host).ask({.task = Task::begin_store});
    report = run_intruder(*make_faulty_host(host, fault), serving_host,
                          {.duration_ns = fabric::second_ns, .most_repetitions = 40});
    Peer(host, serving_host).ask({.task = Task::end_store});
  });
  return report;
}

TEST(AcceptanceIntruder, TheStoreRefusesWhatItHasNoRightTo) {
  const PartReport report = intruder_on({});
  EXPECT_EQ(problems_of(report), "");
  const Row& revoked = row_of(report, "WRITE of 32 KiB | its region is revoked");
  EXPECT_EQ(revoked.observed.find("refused after packets had landed: 0"), std::string::npos)
      << revoked.observed;
}

// A device on which the table can be written: the WRITE does nothing here, and succeeds.
TEST(AcceptanceIntruder, AnAccessThatSucceedsIsReported) {
  const PartReport report = intruder_on({.of_chain = [](std::vector<WorkRequest>& chain) {
    if (chain.front().opcode == Opcode::write) chain.front().length_bytes = 0;
  }});
  EXPECT_EQ(row_of(report, "WRITE into the table").verdict, acceptance::Verdict::violated);
  EXPECT_EQ(row_of(report, "CAS beyond the table").verdict, acceptance::Verdict::held);
}

}  // namespace
}  // namespace falafel::acceptance
