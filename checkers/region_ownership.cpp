#include "checkers/region_ownership.h"

#include <fmt/format.h>

namespace falafel::checkers {

using engine::RegionInspection;
using engine::RegionState;

void RegionOwnership::judge(std::string_view what, std::uint32_t client, std::uint64_t offset,
                            std::span<const RegionInspection> regions, std::uint64_t step) {
  const std::uint64_t begin = geometry_.region_offset(0);
  if (offset < begin || offset >= geometry_.region_offset(geometry_.region_count)) return;
  const std::uint64_t region = (offset - begin) / geometry_.region_bytes;
  const RegionInspection& books = regions[region];
  if (books.state != RegionState::granted) {
    return violate(what, step,
                   fmt::format("a client (queue pair {}) at offset {} in region {}, which is {}",
                               client, offset, region, engine::to_string(books.state)));
  }
  Writer& writer = writers_[region];
  if (writer.incarnation != books.incarnation) {
    writer = {.incarnation = books.incarnation, .client = client};
  } else if (writer.client != client) {
    violate(what, step,
            fmt::format("a client (queue pair {}) at offset {} in region {}, which is granted to "
                        "another client (queue pair {})",
                        client, offset, region, writer.client));
  }
}

void RegionOwnership::violate(std::string_view what, std::uint64_t step, std::string explanation) {
  if (judgement_.verdict != Verdict::holds) return;
  judgement_ = {.verdict = Verdict::violated,
                .property = fmt::format("ownership.{}", what),
                .explanation = fmt::format("step {}: a {} by {}", step, what, explanation),
                .step = step};
}

}  // namespace falafel::checkers
