#include "fabric/shm/kept_range.h"

#include <utility>

namespace falafel::shm {

using fabric::Result;

Result<std::shared_ptr<KeptRange>> KeptRange::create(
    Arena& arena, const std::shared_ptr<fabric::KeptFile>& file) {
  const auto overlay = arena.lay_over(file->file(), file->size_bytes());
  if (!overlay) return tl::unexpected(overlay.error());
  return std::make_shared<KeptRange>(arena, file, *overlay);
}

KeptRange::KeptRange(Arena& arena, std::shared_ptr<fabric::KeptFile> file, const Overlay& overlay)
    : arena_(arena),
      file_(std::move(file)),
      overlay_(overlay),
      gates_(*file_, arena.mapping()->at(overlay.begin)) {}

KeptRange::~KeptRange() {
  if (!is_abandoned_) arena_.remove(overlay_);
}

Result<std::unique_ptr<GateInFile>> GateInFile::take(std::shared_ptr<KeptRange> range,
                                                     const fabric::ProcessIdentity& peer) {
  const auto given = range->gates().give(peer);
  if (!given) return tl::unexpected(given.error());
  return std::make_unique<GateInFile>(std::move(range), *given);
}

}  // namespace falafel::shm
