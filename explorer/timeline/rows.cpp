#include "explorer/timeline/rows.h"

#include <algorithm>
#include <vector>

namespace falafel::timeline {
namespace {

// The end of the last item in each row. An item takes the lowest free row, so a client with
// sequential operations uses only one row. An item without duration occupies nothing.
class Rows {
 public:
  std::uint32_t take(std::uint64_t first_step, std::uint64_t last_step) {
    const auto found =
        std::ranges::find_if(ends_, [&](std::uint64_t end) { return end <= first_step; });
    const auto row = static_cast<std::uint32_t>(found - ends_.begin());
    if (found == ends_.end()) ends_.push_back(0);
    ends_[row] = last_step;
    return row;
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }

 private:
  std::vector<std::uint64_t> ends_;
};

}  // namespace

void assign_rows(Timeline& timeline) {
  std::vector<Rows> operations(timeline.lanes.size());
  std::vector<Rows> requests(timeline.lanes.size());
  for (OperationSpan& operation : timeline.operations) {
    operation.row = operations[operation.lane].take(operation.call_step, operation.return_step);
  }
  for (Request& request : timeline.requests) {
    const std::uint64_t last_step =
        request.completed_step == never ? timeline.steps : request.last_step;
    request.row = requests[request.lane].take(request.posted_step, last_step);
  }
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    timeline.lanes[lane].operation_rows = operations[lane].count();
    timeline.lanes[lane].request_rows = requests[lane].count();
  }
}

}  // namespace falafel::timeline
