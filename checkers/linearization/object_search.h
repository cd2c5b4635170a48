// Judges a history of calls on an object, which consists of one or several independent objects.
#pragma once

#include <cstddef>
#include <memory>

#include "checkers/linearizability_report.h"
#include "checkers/linearization/object_model.h"

namespace falafel::checkers::linearization {

// Keeps its working memory between histories.
class ObjectSearch {
 public:
  ObjectSearch();
  ObjectSearch(ObjectSearch&&) noexcept;
  ObjectSearch& operator=(ObjectSearch&&) noexcept;
  ~ObjectSearch();

  // The explanation of a violation lists at most the last `most_listed` operations of the longest
  // order.
  LinearizabilityReport report(ObjectModel& model, const LinearizabilityLimits& limits,
                               std::size_t most_listed);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace falafel::checkers::linearization
