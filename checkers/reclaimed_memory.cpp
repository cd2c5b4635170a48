#include "checkers/reclaimed_memory.h"

#include <fmt/format.h>

namespace falafel::checkers {

using engine::MatureSpaceInspection;
using engine::RegionInspection;
using engine::RegionState;

Judgement check_bad_checksums(std::uint64_t count) {
  Judgement judgement{
      .verdict = Verdict::holds, .property = "reclamation.bad-checksum", .explanation = {}};
  if (count == 0) return judgement;
  judgement.verdict = Verdict::violated;
  judgement.explanation = fmt::format(
      "operations found {} containers that fail their checksum, although memory is not reused "
      "while a reader may still access it",
      count);
  return judgement;
}

// A region that was granted again between two calls was free in between.
void ReclaimedMemory::on_books(std::span<const RegionInspection> regions,
                               std::span<const MatureSpaceInspection> mature_spaces) {
  for (std::size_t index = 0; index < regions_.size(); ++index) {
    RegionGhost& ghost = regions_[index];
    const RegionInspection& now = regions[index];
    const bool is_free = now.state == RegionState::free && ghost.seen.state != RegionState::free;
    if (is_free || now.incarnation != ghost.seen.incarnation) ghost.freed = ++now_;
    ghost.seen = now;
  }
  for (std::size_t index = 0; index < spaces_.size(); ++index) {
    SpaceGhost& ghost = spaces_[index];
    const MatureSpaceInspection& now = mature_spaces[index];
    const bool in_use = now.active || now.waiting || now.used_bytes > 0;
    if (ghost.in_use && !in_use) ghost.freed = ++now_;
    ghost.in_use = in_use;
  }
}

void ReclaimedMemory::on_operation_called(Reader reader) { readers_[reader] = {}; }

void ReclaimedMemory::on_read_posted(Reader reader, Request request, std::uint64_t offset,
                                     std::uint64_t length_bytes) {
  const auto known = readers_.find(reader);
  if (known == readers_.end()) return;
  OfReader& of_reader = known->second;
  Read& read = reads_[request] = {.reader = reader};
  if (const auto entry = of_reader.entries.find(offset); entry != of_reader.entries.end()) {
    read = {.reader = reader, .container = offset, .entry_read = entry->second};
  }
  // An operation that restarted may know this offset from an earlier entry, as the start of another
  // container.
  if (const auto begun = of_reader.read_ends.find(offset);
      begun != of_reader.read_ends.end() && begun->second.entry_read > read.entry_read) {
    read = begun->second;
  }
  if (read.container != 0) of_reader.read_ends[offset + length_bytes] = read;
}

void ReclaimedMemory::on_entry_read(Request request, std::uint64_t offset) {
  const auto read = reads_.find(request);
  if (read != reads_.end()) readers_.at(read->second.reader).entries[offset] = now_;
}

ReclaimedMemory::Moment ReclaimedMemory::freed_at(std::uint64_t offset) const {
  const std::uint64_t regions_begin = geometry_.region_offset(0);
  const std::uint64_t regions_end = geometry_.region_offset(geometry_.region_count);
  if (offset >= regions_begin && offset < regions_end) {
    return regions_[(offset - regions_begin) / geometry_.region_bytes].freed;
  }
  const auto space = geometry_.mature_space_at(offset);
  return space ? spaces_[*space].freed : 0;
}

// A READ may extend beyond the container into memory that the reader ignores, so only the memory in
// which the container begins matters.
void ReclaimedMemory::on_words_taken(Request request, std::uint64_t offset, std::uint64_t step) {
  const auto found = reads_.find(request);
  if (found == reads_.end() || judgement_.verdict != Verdict::holds) return;
  const Read& read = found->second;
  if (read.container == 0 || freed_at(read.container) <= read.entry_read) return;
  judgement_ = {
      .verdict = Verdict::violated,
      .property = "reclamation.read-of-freed-memory",
      .explanation = fmt::format(
          "step {}: a READ of the container at {} returned words at {}, but that memory was freed "
          "after the reader read the entry that led there",
          step, read.container, offset),
      .step = step};
}

void ReclaimedMemory::on_operation_over(Reader reader) {
  readers_.erase(reader);
  std::erase_if(reads_, [&](const auto& read) { return read.second.reader == reader; });
}

void ReclaimedMemory::on_restart() {
  readers_.clear();
  reads_.clear();
  regions_.assign(regions_.size(), {});
  spaces_.assign(spaces_.size(), {});
}

}  // namespace falafel::checkers
