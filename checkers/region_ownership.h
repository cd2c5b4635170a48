// Write ownership: a client writes and publishes containers only in regions that the server granted
// to it. The property requires that a client releases a region only after its work there is
// complete, and that the server reclaims a region only after fencing its owner. Properties:
// "ownership.write", "ownership.publication".
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

  // The server crashed: no region has an owner, and incarnations restart.
  void clear() { writers_.assign(writers_.size(), {}); }

  // A client's WRITE modified words at `offset`, or a client's compare-and-swap published the
  // container at `offset`. Offsets outside regions are ignored. `regions` is the server's
  // bookkeeping at that moment. The first client that writes to a region after a grant is taken to
  // be its owner.
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
    std::uint64_t incarnation = 0;  // of the region; 0: no writer yet
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
