#include "fabric/sim/network/placement.h"

#include <algorithm>
#include <bit>

namespace falafel::sim {

namespace {

unsigned shift_of_unit(const SimulationOptions& options) {
  switch (options.granularity) {
    case Granularity::byte: return 0;
    case Granularity::word: return 3;
    case Granularity::line: return 6;
    case Granularity::packet: break;
  }
  return static_cast<unsigned>(std::countr_zero(options.mtu_bytes));
}

}  // namespace

void Placement::begin(std::uint64_t length_bytes, std::uint64_t remote_offset, bool ascends,
                      const SimulationOptions& options) {
  const unsigned shift = shift_of_unit(options);
  const std::uint64_t unit_bytes = std::uint64_t{1} << shift;
  // Packets start at the beginning of the transfer; words and lines are aligned in memory.
  const std::uint64_t misalignment =
      options.granularity == Granularity::packet ? 0 : remote_offset & (unit_bytes - 1);
  length_bytes_ = static_cast<std::uint32_t>(length_bytes);
  arrived_bytes_ = 0;
  packet_bytes_ = static_cast<std::uint32_t>(options.mtu_bytes);
  units_ = static_cast<std::uint32_t>((length_bytes + misalignment + unit_bytes - 1) >> shift);
  arrived_units_ = 0;
  unplaced_units_ = 0;
  unit_shift_ = static_cast<std::uint8_t>(shift);
  misalignment_ = static_cast<std::uint8_t>(misalignment);
  ascends_ = ascends;
  small_mask_ = 0;
  if (has_many_units()) mask_.assign((units_ + mask_bits - 1) / mask_bits, 0);
}

void Placement::truncate(bool keeps_shared_unit) {
  if (shares_unit() && !keeps_shared_unit) {
    const std::uint32_t end = arrived_units_ << unit_shift_;
    arrived_bytes_ = end > misalignment_ ? end - misalignment_ : 0;
  }
  length_bytes_ = arrived_bytes_;
  const std::uint64_t unit_bytes = std::uint64_t{1} << unit_shift_;
  if (length_bytes_ > 0)
    mark_arrived((length_bytes_ + misalignment_ + unit_bytes - 1) >> unit_shift_);
}

void Placement::mark_further(std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t unit = first; unit < end; ++unit) {
    word_of(unit) |= std::uint64_t{1} << (unit % mask_bits);
  }
}

Placement::Range Placement::take_piece(World& world, Answers units) {
  FALAFEL_ASSERT(has_unplaced(), "all {} units that arrived are in place", arrived_units_);
  std::uint64_t first = 0;
  std::uint64_t most = 1;
  if (unplaced_units_ > 1) {
    const auto scales = static_cast<std::uint64_t>(std::bit_width(unplaced_units_ - 1));
    if (!ascends_) {
      const Answers unplaced = has_many_units() ? all_answers : small_mask_;
      first = world.choose(ChoiceKind::placement_start, arrived_units_,
                           units == all_answers ? unplaced : units);
    }
    most = std::uint64_t{1} << world.choose(ChoiceKind::placement_length, scales, only_first);
  }
  const Run run = has_many_units() ? take_run_of_many(first, most) : take_run(first, most);
  unplaced_units_ -= run.units;
  return range_of(run);
}

Placement::Run Placement::take_run_of_many(std::uint64_t from, std::uint64_t most) {
  std::uint64_t index = from / mask_bits;
  std::uint64_t word = mask_[index] & (~std::uint64_t{0} << (from % mask_bits));
  while (word == 0) {
    index = index + 1 == mask_.size() ? 0 : index + 1;
    word = mask_[index];
  }
  const std::uint64_t first =
      index * mask_bits + static_cast<std::uint64_t>(std::countr_zero(word));
  const auto is_unplaced = [this](std::uint64_t unit) {
    return (mask_[unit / mask_bits] >> (unit % mask_bits) & 1U) != 0;
  };
  std::uint64_t last = first;
  while (last < arrived_units_ && last - first < most && is_unplaced(last)) {
    mask_[last / mask_bits] &= ~(std::uint64_t{1} << (last % mask_bits));
    ++last;
  }
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last - first)};
}

}  // namespace falafel::sim
