// What Pilaf's paper measured (Mitchell, Geng, Li, USENIX ATC 2013, section 5), predicted with this
// project's Pilaf from the values of a card alone.
#pragma once

#include <string>
#include <vector>

#include "fabric/sim/timing/profile.h"

namespace falafel::figures {

struct PilafComparison {
  std::string figure;    // of the paper
  std::string quantity;  // with its unit
  double paper = 0;
  double predicted = 0;
};

// The run of each value must complete.
std::vector<PilafComparison> compare_with_pilaf(const sim::timing::Profile& profile);

// A table in Markdown.
std::string to_table(const std::vector<PilafComparison>& comparisons);

}  // namespace falafel::figures
