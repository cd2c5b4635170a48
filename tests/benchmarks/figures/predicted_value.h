// A value of predicted figures, by the name of its quantity.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string_view>

#include "tools/benchmarks/figures/figure.h"

namespace falafel::figures {

inline double predicted_value(std::span<const Figure> figures, std::string_view quantity) {
  for (const Figure& figure : figures) {
    for (const Comparison& comparison : figure.comparisons) {
      if (comparison.quantity == quantity) return comparison.published;
    }
  }
  ADD_FAILURE() << "no value is called " << quantity;
  return 0;
}

}  // namespace falafel::figures
