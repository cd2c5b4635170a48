#include "fabric/sim/placement.h"

#include <algorithm>
#include <bit>

#include "fabric/sim/world.h"

namespace falafel::sim {

namespace {

// About one in so many transfers that have arrived completely is moved piece by piece.
constexpr std::uint64_t tear_rate = 4;

// A mask of the first `count` units, at most 64.
std::uint64_t first_units(std::uint64_t count) {
  return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

void Placement::begin(std::uint64_t length_bytes, std::uint64_t remote_offset,
                      const SimulationOptions& options) {
  length_bytes_ = length_bytes;
  arrived_bytes_ = 0;
  packet_bytes_ = options.mtu_bytes;
  switch (options.granularity) {
    case Granularity::byte: unit_shift_ = 0; break;
    case Granularity::word: unit_shift_ = 3; break;
    case Granularity::packet:
      unit_shift_ = static_cast<std::uint64_t>(std::countr_zero(options.mtu_bytes));
      break;
  }
  // Packets start at the beginning of the transfer; words are aligned in memory.
  const std::uint64_t unit_bytes = std::uint64_t{1} << unit_shift_;
  misalignment_ = options.granularity == Granularity::packet ? 0 : remote_offset & (unit_bytes - 1);
  units_ = (length_bytes + misalignment_ + unit_bytes - 1) >> unit_shift_;
  arrived_units_ = 0;
  unplaced_units_ = 0;
  small_mask_ = 0;
  many_units_ = units_ > 64;
  if (many_units_) mask_.assign((units_ + 63) / 64, 0);
}

std::uint64_t Placement::start_of(std::uint64_t unit) const {
  const std::uint64_t start = unit << unit_shift_;
  return start <= misalignment_ ? 0 : std::min(start - misalignment_, length_bytes_);
}

// The number of complete units in the first `bytes`. A unit that two packets share arrives with the
// second.
std::uint64_t Placement::units_within(std::uint64_t bytes) const {
  return bytes == length_bytes_ ? units_ : (bytes + misalignment_) >> unit_shift_;
}

void Placement::next_packet_arrives() {
  FALAFEL_ASSERT(!all_arrived(), "a packet arrives after all {} bytes", length_bytes_);
  arrived_bytes_ = std::min(arrived_bytes_ + packet_bytes_, length_bytes_);
  mark_arrived(units_within(arrived_bytes_));
}

void Placement::truncate() {
  length_bytes_ = arrived_bytes_;
  const std::uint64_t unit_bytes = std::uint64_t{1} << unit_shift_;
  if (length_bytes_ > 0) {
    mark_arrived((length_bytes_ + misalignment_ + unit_bytes - 1) >> unit_shift_);
  }
}

void Placement::mark_arrived(std::uint64_t units) {
  unplaced_units_ += units - arrived_units_;
  if (!many_units_ && arrived_units_ == 0) {
    small_mask_ = first_units(units);
  } else {
    for (std::uint64_t unit = arrived_units_; unit < units; ++unit) {
      word_of(unit) |= std::uint64_t{1} << (unit % 64);
    }
  }
  arrived_units_ = units;
}

// The first unplaced unit at or after `from`, wrapping around.
std::uint64_t Placement::find_unplaced(std::uint64_t from) const {
  const std::uint64_t words = many_units_ ? mask_.size() : 1;
  std::uint64_t index = from / 64;
  std::uint64_t word = word_of(from) & (~std::uint64_t{0} << (from % 64));
  while (word == 0) {
    index = index + 1 == words ? 0 : index + 1;
    word = many_units_ ? mask_[index] : small_mask_;
  }
  return index * 64 + static_cast<std::uint64_t>(std::countr_zero(word));
}

Placement::Range Placement::take(World& world, Answers units) {
  FALAFEL_ASSERT(has_unplaced(), "all {} units that arrived are in place", arrived_units_);
  if (unplaced_units_ == arrived_units_ && all_arrived() &&
      !world.chance(ChoiceKind::placement_length, tear_rate, only_first)) {
    return take_everything();
  }
  std::uint64_t first = 0;
  std::uint64_t most = 1;
  if (unplaced_units_ > 1) {
    const auto scales = static_cast<std::uint64_t>(std::bit_width(unplaced_units_ - 1));
    if (!world.options.address_order) {
      const Answers unplaced = many_units_ ? all_answers : small_mask_;
      first = world.choose(ChoiceKind::placement_start, arrived_units_,
                           units == all_answers ? unplaced : units);
    }
    most = std::uint64_t{1} << world.choose(ChoiceKind::placement_length, scales, only_first);
  }
  return take_run(find_unplaced(first), most);
}

Placement::Range Placement::take_everything() {
  small_mask_ = 0;
  unplaced_units_ = 0;
  if (many_units_) std::fill(mask_.begin(), mask_.end(), 0);
  return {0, length_bytes_, 0, units_};
}

// Takes at most `most` neighbors, starting with `first`.
Placement::Range Placement::take_run(std::uint64_t first, std::uint64_t most) {
  std::uint64_t last = first;
  if (!many_units_) {
    const auto neighbours = static_cast<std::uint64_t>(std::countr_one(small_mask_ >> first));
    last += std::min(neighbours, most);
    small_mask_ &= ~(first_units(last - first) << first);
  } else {
    while (last < arrived_units_ && last - first < most && is_unplaced(last)) {
      word_of(last) &= ~(std::uint64_t{1} << (last % 64));
      ++last;
    }
  }
  FALAFEL_ASSERT(first < last && last <= arrived_units_, "units {} to {} of {} are taken", first,
                 last, arrived_units_);
  unplaced_units_ -= last - first;
  const std::uint64_t start = start_of(first);
  return {start, start_of(last) - start, first, last - first};
}

}  // namespace falafel::sim
