// A value that a paper published, next to its prediction with this project's version of the store.
#pragma once

#include <string>
#include <vector>

namespace falafel::figures {

struct PaperComparison {
  std::string figure;    // of the paper
  std::string quantity;  // with its unit
  double paper = 0;
  double predicted = 0;
};

// A table in Markdown.
std::string to_table(const std::vector<PaperComparison>& comparisons);

}  // namespace falafel::figures
