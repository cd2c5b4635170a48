// The programs `reorder` and `twostage` of SCTBench (P. Thomson, A. F. Donaldson, A. Betts:
// "Concurrency Testing Using Controlled Schedulers: An Empirical Study", TOPC 2016), on which many
// strategies were measured: threads that share memory, and a failure that few schedules reach.
//
// reorder: writers set a to 1 and then b to -1. A reader fails if it sees the first write without
// the second. twostage: writers set data1 under a lock and data2, to data1 + 1, under another one.
// A reader fails if it sees data1 without data2. The more writers there are, the sooner one of them
// has made its second write. The main thread creates the writers before the readers.
//
// Each thread runs on a host of its own, and all of them access one block of memory, which only the
// simulator permits. On one host, all steps would share the host's variables, so POS would take all
// pairs of steps for races. Each access of shared memory is a step, and so is the creation of a
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/check/program.h"
#include "fabric/sim/options/options.h"

namespace falafel::sctbench {

enum class Family : std::uint8_t { reorder, twostage };

struct Subject {
  std::string name;  // in SCTBench
  Family family{};
  std::uint32_t writers = 0;
  std::uint32_t readers = 0;
};

// The sizes of SCTBench, and those that PERIOD (ICSE 2022) and RFF (ASPLOS 2024) added.
std::vector<Subject> subjects();

// Violated if the reader's assertion fails.
inline constexpr std::string_view assertion_property = "assertion";

std::unique_ptr<check::WorldProgram> make_program(const Subject& subject,
                                                  sim::StrategyKind strategy);

}  // namespace falafel::sctbench
