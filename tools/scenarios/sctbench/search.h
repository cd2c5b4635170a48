// How many schedules does a strategy need until a program fails?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explorer/program.h"

namespace falafel::sctbench {

// The number of schedules up to the first one that violates a property, with seeds from
// `first_seed` on. Nothing if the first `limit` schedules hold.
std::optional<std::uint64_t> schedules_to_failure(const explorer::Program& program,
                                                  std::uint64_t first_seed, std::uint64_t limit);

// Several searches, of which some may have found nothing. Not empty.
class Searches {
 public:
  void add(std::optional<std::uint64_t> schedules);
  // The lower one of two medians. Nothing if that search found nothing.
  std::optional<std::uint64_t> median() const;
  // Nothing if a search found nothing.
  std::optional<std::uint64_t> worst() const;
  std::uint64_t successes() const;

 private:
  std::vector<std::uint64_t> sorted_;  // a search that found nothing comes last
};

}  // namespace falafel::sctbench
