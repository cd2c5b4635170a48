// Who writes where: a client writes containers, and publishes them in entries, in regions only that the
// server has granted to that client. Holds where regions are released after all work there, and taken back
// behind a fence. Properties: "ownership.write", "ownership.publication".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/judgement.h"
#include "engine/layout/geometry.h"
#include "engine/layout/inspection.h"

namespace falafel::checkers {

class RegionOwnership {
 public:
  explicit RegionOwnership(const engine::Geometry& geometry)
      : geometry_(geometry), writers_(geometry.region_count) {}

  // The server has died: nobody has a region, and incarnations are counted anew.
  void clear() { writers_.assign(writers_.size(), {}); }

  // A client's WRITE puts words there, or a client's compare-and-swap publishes what is there. What is not
  // in a region is no matter. `regions`: the server's books at that moment. Who writes first in a region
  // after it was granted shows to whom it was.
  void on_written(std::uint32_t client, std::uint64_t offset,
                  std::span<const engine::RegionInspection> regions, std::uint64_t step) {
    judge("write", client, offset, regions, step);
  }
  void on_published(std::uint32_t client, std::uint64_t offset,
                    std::span<const engine::RegionInspection> regions, std::uint64_t step) {
    judge("publication", client, offset, regions, step);
  }

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  struct Writer {
    std::uint64_t incarnation = 0;  // of the region; 0: none
    std::uint32_t client = 0;
  };

  void judge(std::string_view what, std::uint32_t client, std::uint64_t offset,
             std::span<const engine::RegionInspection> regions, std::uint64_t step);
  void violate(std::string_view what, std::uint64_t step, std::string explanation);

  const engine::Geometry& geometry_;
  std::vector<Writer> writers_;  // by region
  Judgement judgement_{.verdict = Verdict::holds, .property = "ownership", .explanation = {}};
};

}  // namespace falafel::checkers
