#include "tools/benchmarks/figures/paper_comparison.h"

#include <fmt/format.h>

#include "tools/benchmarks/figures/figure.h"

namespace falafel::figures {

std::string to_table(const std::vector<PaperComparison>& comparisons) {
  std::string table =
      "| Figure | Quantity | Paper | Predicted | Deviation |\n| --- | --- | --: | --: | --: |\n";
  for (const PaperComparison& comparison : comparisons) {
    table += fmt::format("| {} | {} | {:.2f} | {:.2f} | {:+.0f} % |\n", comparison.figure,
                         comparison.quantity, comparison.paper, comparison.predicted,
                         deviation_percent(comparison.predicted, comparison.paper));
  }
  return table;
}

}  // namespace falafel::figures
