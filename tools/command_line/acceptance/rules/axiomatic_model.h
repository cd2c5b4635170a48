// The rules of RDMA as axioms: which outcomes a small program may have, without any device, queue
// or schedule. Rules have the numbers of docs/fabric.md.
//
// Events. A READ and a load are one event that reads a word. A WRITE and a store are one event that
// writes a word (rule 1: a word moves whole). An atomic is two events: it reads the word, then
// writes it; a CAS that finds another word than it compares with only reads.
//
// Executions. An execution is a total order of all events. A read finds what the last write of its
// word before it wrote, and 0 before any. The axioms say which total orders are executions:
//
//   program order   accesses of the processor are in the order of the program
//   rule 5          a WRITE is before all later requests of its queue pair (so rule 8: an atomic is
//                   after the earlier WRITEs); an atomic is before all later READs
//   rule 7          a READ or an atomic is before a later fenced request, and before all requests
//                   behind that one
//   rule 11         an atomic reads before it writes; of two atomics on one word, one is over
//                   before the other begins
//
// Nothing else is ordered: not two READs (rule 6), not a READ or an atomic and a later WRITE or
// atomic without a fence (rule 5), not requests of different queue pairs (rule 9), and data that
// others write between the two events of an atomic is lost (rule 11).
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "tools/command_line/acceptance/rules/small_program.h"

namespace falafel::litmus {

enum class Axiom : std::uint8_t {
  program_order,            // of the processor
  write_before_all,         // rules 5 and 8
  atomic_before_reads,      // rule 5
  before_fenced,            // rule 7
  before_all_behind_fence,  // rule 7
  one_atomic_at_a_time,     // rule 11
};
inline constexpr Axiom all_axioms[] = {Axiom::program_order,           Axiom::write_before_all,
                                       Axiom::atomic_before_reads,     Axiom::before_fenced,
                                       Axiom::before_all_behind_fence, Axiom::one_atomic_at_a_time};

// The outcomes of all executions; of those that need not satisfy one of the axioms, if `without`
// names one.
std::set<SmallOutcome> allowed_outcomes(const SmallProgram& program,
                                        std::optional<Axiom> without = std::nullopt);

}  // namespace falafel::litmus
