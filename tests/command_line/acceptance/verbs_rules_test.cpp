// Conformance and litmus tests of an acceptance run, on a simulated device that obeys the rules and
// no more, and on devices that break one.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/command_line/acceptance/faulty_host.h"
#include "tests/command_line/acceptance/simulated_run.h"
#include "tools/command_line/acceptance/conformance.h"
#include "tools/command_line/acceptance/litmus.h"

namespace falafel::acceptance {
namespace {

using fabric::CompletionStatus;
using fabric::Opcode;
using fabric::WorkRequest;

constexpr Budget short_budget{.duration_ns = 3'600 * fabric::second_ns, .most_repetitions = 60};

PartReport conformance_of(const sim::SimulationOptions& options, const Fault& fault = {}) {
  PartReport report;
  run_with_server(options, 1, [&](fabric::Host& host) {
    report = run_conformance(*make_faulty_host(host, fault), serving_host);
  });
  return report;
}

PartReport litmus_of(const sim::SimulationOptions& options, std::uint64_t seed,
                     const Fault& fault = {}) {
  PartReport report;
  run_with_server(options, seed, [&](fabric::Host& host) {
    report = run_litmus(*make_faulty_host(host, fault), serving_host, short_budget);
  });
  return report;
}

std::uint64_t count_of_verdict(const PartReport& report, Verdict verdict) {
  return static_cast<std::uint64_t>(std::ranges::count(report.rows, verdict, &Row::verdict));
}

TEST(AcceptanceConformance, ADeviceThatObeysTheRulesHoldsAllOfThem) {
  for (const auto& options : {sim::SimulationOptions{}, weakest_device()}) {
    const PartReport report = conformance_of(options);
    EXPECT_EQ(problems_of(report), "");
    EXPECT_EQ(count_of_verdict(report, Verdict::held), report.rows.size());
    EXPECT_GE(report.rows.size(), 48U);
  }
}

TEST(AcceptanceConformance, WhatADeviceLacksIsNotTried) {
  sim::SimulationOptions options;
  options.max_inline_bytes = 0;
  const PartReport report = conformance_of(options);
  EXPECT_EQ(problems_of(report), "");
  EXPECT_EQ(row_of(report, "inlined WRITE whose source changes after posting").verdict,
            Verdict::not_tried);
}

// A device that takes any key for the right one.
TEST(AcceptanceConformance, ADeviceThatIgnoresKeysIsReported) {
  std::uint32_t good_key = 0;
  const Fault fault{.of_chain = [&](std::vector<WorkRequest>& chain) {
    for (WorkRequest& request : chain) {
      if (good_key == 0 && request.remote.key != 0) good_key = request.remote.key;
      if (request.remote.key != 0) request.remote.key = good_key;
    }
  }};
  PartReport report;
  run_with_server({}, 1, [&](fabric::Host& host) {
    const auto faulty = make_faulty_host(host, fault);
    for (const Check& check : access_checks()) {
      good_key = 0;
      report.rows.push_back(run_check(*faulty, serving_host, check));
    }
  });
  EXPECT_GE(count_of_verdict(report, Verdict::violated), 1U);
}

// A device that calls everything a success.
TEST(AcceptanceConformance, ADeviceThatReportsNoFailureIsReported) {
  const PartReport report = conformance_of({}, {.of_completion = [](auto& completion) {
                                             completion.status = CompletionStatus::success;
                                           }});
  for (const char* const name :
       {"READ with an unknown key", "WRITE without its right", "a region is revoked",
        "SEND longer than the receive buffer", "the other end is in error",
        "requests of a queue pair in error"}) {
    EXPECT_EQ(row_of(report, name).verdict, Verdict::violated) << name;
  }
}

// A device that adds twice, and swaps in spite of another word.
TEST(AcceptanceConformance, WrongAtomicsAreReported) {
  const PartReport report =
      conformance_of({}, {.of_chain = [](std::vector<WorkRequest>& chain) {
                       for (WorkRequest& request : chain) {
                         if (request.opcode == Opcode::fetch_and_add) request.swap_or_add *= 2;
                         if (request.opcode == Opcode::compare_and_swap && request.compare == 8)
                           request.compare = 7;
                       }
                     }});
  EXPECT_EQ(row_of(report, "FETCH_ADD that wraps around").verdict, Verdict::violated);
  EXPECT_EQ(row_of(report, "CAS that does not match").verdict, Verdict::violated);
  EXPECT_EQ(row_of(report, "CAS that matches").verdict, Verdict::held);
}

TEST(AcceptanceConformance, AServerThatIsNotThereIsNotDone) {
  PartReport report;
  run_with_server({}, 1, [&](fabric::Host& host) {
    report.rows.push_back(run_check(host, "nobody", transfer_checks().front()));
  });
  EXPECT_EQ(report.verdict(), Verdict::not_done);
}

TEST(AcceptanceLitmus, ADeviceThatObeysTheRulesShowsNothingForbidden) {
  for (const auto& options : {sim::SimulationOptions{}, weakest_device()}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const PartReport report = litmus_of(options, seed);
      EXPECT_EQ(problems_of(report), "") << "seed " << seed;
      EXPECT_EQ(report.rows.size(), 22U);
    }
  }
}

// The weakest device does what the rules allow, so the shapes can see it.
TEST(AcceptanceLitmus, AllowedOutcomesAreCounted) {
  const PartReport report = litmus_of(weakest_device(), 1);
  for (const auto& [name, zero] :
       {std::pair{"WRITE x; WRITE y | CPU loads y, x",
                  "y before x (the processor may see WRITEs late): 0\n"},
        {"WRITE of 8 words | READ of 8 words", "READs with words of different WRITEs: 0\n"},
        {"READ x; WRITE x", "READs that find the later WRITE: 0\n"},
        {"WRITE x on one queue pair | WRITE y on another | CPU loads y, x",
         "the second WRITE before the first: 0\n"}}) {
    const Row& row = row_of(report, name);
    EXPECT_EQ(row.observed.find(zero), std::string::npos) << row.observed;
    EXPECT_NE(row.observed.find(std::string(zero).substr(0, std::string(zero).find(':'))),
              std::string::npos)
        << row.observed;
  }
}

TEST(AcceptanceLitmus, ADeviceThatReversesChainsIsReported) {
  const PartReport report =
      litmus_of({}, 1, {.of_chain = [](std::vector<WorkRequest>& chain) {
                  if (chain.size() < 2 || chain.front().opcode == Opcode::fetch_and_add) return;
                  const auto flags = chain;
                  std::ranges::reverse(chain);
                  for (std::size_t place = 0; place < chain.size(); ++place)
                    chain[place].signalled = flags[place].signalled;
                }});
  for (const char* const name :
       {"WRITE x; SEND | CPU receives, loads x", "WRITE x; WRITE y | READ y, completes; READ x",
        "WRITE of 8 words; READ of 8 words",
        "all programs of two clients with 2 and 2, or 3 and 1 requests on two words"}) {
    EXPECT_EQ(row_of(report, name).verdict, Verdict::violated)
        << name << ": " << row_of(report, name).observed;
  }
}

TEST(AcceptanceLitmus, ADeviceWithoutFencesIsReported) {
  const PartReport report = litmus_of({}, 1, {.of_chain = [](std::vector<WorkRequest>& chain) {
                                        for (WorkRequest& request : chain) request.fenced = false;
                                      }});
  for (const char* const name :
       {"READ x; fenced WRITE x",
        "all programs of two clients with 2 and 2, or 3 and 1 requests on two words"}) {
    EXPECT_EQ(row_of(report, name).verdict, Verdict::violated)
        << name << ": " << row_of(report, name).observed;
  }
}

// Two devices, or a card that executes atomics where it does not lock: additions get lost.
TEST(AcceptanceLitmus, LostAdditionsAreReported) {
  std::uint64_t requests = 0;
  const PartReport report =
      litmus_of({}, 1, {.of_chain = [&](std::vector<WorkRequest>& chain) {
                  for (WorkRequest& request : chain) {
                    if (request.opcode == Opcode::fetch_and_add && ++requests % 50 == 0)
                      request.swap_or_add = 0;
                  }
                }});
  EXPECT_EQ(row_of(report, "8 FETCH_ADD x on one queue pair | 8 on another").verdict,
            Verdict::violated);
}

// A device that tears words: a WRITE of a word arrives as two of half a word. What was promised as
// one word is then a mixture.
TEST(AcceptanceLitmus, TornWordsAreReported) {
  const PartReport report =
      litmus_of({}, 1, {.of_chain = [](std::vector<WorkRequest>& chain) {
                  if (chain.size() != 1 || chain.front().opcode != Opcode::write) return;
                  WorkRequest half = chain.front();
                  half.length_bytes /= 2;
                  half.signalled = false;
                  chain.front().length_bytes -= half.length_bytes;
                  chain.front().local.offset += half.length_bytes;
                  chain.front().remote.offset += half.length_bytes;
                  chain.insert(chain.begin(), half);
                }});
  EXPECT_EQ(row_of(report, "WRITE x | CPU loads x, x").verdict, Verdict::violated);
}

}  // namespace
}  // namespace falafel::acceptance
