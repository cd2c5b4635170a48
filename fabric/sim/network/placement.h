// The progress of one READ or WRITE. Packets arrive in order. The words of arrived packets are
// moved in any order, a run of neighbors at a time. Choices decide the length of a run, from one
// word to all, so every order of words and every tear between words can happen.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "fabric/sim/run/world.h"

namespace falafel::sim {

class Placement {
 public:
  struct Range {
    std::uint32_t offset;  // within the transfer
    std::uint32_t length_bytes;
    std::uint32_t first_unit;
    std::uint32_t units;
  };

  // `remote_offset` is the start of the transfer in memory, where units are aligned. `ascends`:
  // units move in the order of their addresses.
  void begin(std::uint64_t length_bytes, std::uint64_t remote_offset, bool ascends,
             const SimulationOptions& options);

  std::uint64_t arrived_bytes() const { return arrived_bytes_; }
  bool all_arrived() const { return arrived_bytes_ == length_bytes_; }
  bool is_last_packet_next() const { return length_bytes_ - arrived_bytes_ <= packet_bytes_; }
  bool has_unplaced() const { return unplaced_units_ != 0; }
  bool finished() const { return all_arrived() && !has_unplaced(); }
  // The last packet that has arrived shares a unit with the next one.
  bool shares_unit() const {
    return arrived_bytes_ > 0 && !all_arrived() &&
           arrived_bytes_ + misalignment_ > std::uint64_t{arrived_units_} << unit_shift_;
  }
  // No further packet will arrive. `keeps_shared_unit`: what has arrived of such a unit lands.
  void truncate(bool keeps_shared_unit);

  void next_packet_arrives() {
    FALAFEL_ASSERT(!all_arrived(), "a packet arrives after all {} bytes", length_bytes_);
    arrived_bytes_ += std::min(packet_bytes_, length_bytes_ - arrived_bytes_);
    mark_arrived(units_within(arrived_bytes_));
  }
  // All of a transfer arrives and is taken at once.
  Range be_whole(std::uint32_t length_bytes) {
    length_bytes_ = length_bytes;
    arrived_bytes_ = length_bytes;
    unplaced_units_ = 0;
    return {0, length_bytes, 0, 0};
  }
  // Everything has arrived, and nothing is in place.
  bool is_untouched() const { return unplaced_units_ == arrived_units_ && all_arrived(); }
  // Takes a run of units that have arrived and are not in place yet. Requires has_unplaced().
  // `units`: the sufficient answers to the question where it begins.
  Range take_piece(World& world, Answers units);
  // Requires is_untouched().
  Range take_everything() {
    unplaced_units_ = 0;
    small_mask_ = 0;
    if (has_many_units()) mask_.assign(mask_.size(), 0);
    return {0, length_bytes_, 0, units_};
  }
  std::uint64_t arrived_units() const { return arrived_units_; }
  // Bit i: unit i has arrived and is not in place yet. Only if each unit can be moved by itself.
  std::uint64_t unplaced_mask() const { return small_mask_; }
  bool can_move_any_unit() const { return !has_many_units() && !ascends_; }

 private:
  static constexpr std::uint64_t mask_bits = 64;

  bool has_many_units() const { return units_ > mask_bits; }
  struct Run {
    std::uint32_t first;
    std::uint32_t units;
  };
  // Takes at most `most` neighbors, beginning with the first unplaced unit at or after `from`, or
  // else with the first one of all.
  Run take_run(std::uint64_t from, std::uint64_t most) {
    const std::uint64_t behind = small_mask_ >> from << from;
    const std::uint64_t candidates = behind == 0 ? small_mask_ : behind;
    const auto first = static_cast<std::uint32_t>(std::countr_zero(candidates));
    const auto neighbors = static_cast<std::uint32_t>(std::countr_one(small_mask_ >> first));
    const auto units = static_cast<std::uint32_t>(std::min<std::uint64_t>(neighbors, most));
    small_mask_ &= ~(first_units(units) << first);
    return {first, units};
  }
  Run take_run_of_many(std::uint64_t from, std::uint64_t most);
  void mark_arrived(std::uint64_t units) {
    unplaced_units_ += static_cast<std::uint32_t>(units - arrived_units_);
    if (!has_many_units() && arrived_units_ == 0) {
      small_mask_ = first_units(units);
    } else {
      mark_further(arrived_units_, units);
    }
    arrived_units_ = static_cast<std::uint32_t>(units);
  }
  void mark_further(std::uint64_t first, std::uint64_t end);
  std::uint64_t& word_of(std::uint64_t unit) {
    return has_many_units() ? mask_[unit / mask_bits] : small_mask_;
  }
  // A mask of the first `count` units, at most 64.
  static std::uint64_t first_units(std::uint64_t count) {
    return count == mask_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
  Range range_of(const Run& run) const {
    const std::uint32_t begin = run.first == 0 ? 0 : (run.first << unit_shift_) - misalignment_;
    const std::uint32_t end = ((run.first + run.units) << unit_shift_) - misalignment_;
    return {begin, std::min(end, length_bytes_) - begin, run.first, run.units};
  }
  // The number of complete units in the first `bytes`. A unit that two packets share arrives with
  // the second.
  std::uint64_t units_within(std::uint64_t bytes) const {
    return bytes == length_bytes_ ? units_ : (bytes + misalignment_) >> unit_shift_;
  }

  std::uint32_t length_bytes_ = 0;
  std::uint32_t arrived_bytes_ = 0;
  std::uint32_t packet_bytes_ = 0;
  std::uint32_t units_ = 0;
  std::uint32_t arrived_units_ = 0;
  std::uint32_t unplaced_units_ = 0;
  std::uint8_t unit_shift_ = 0;
  std::uint8_t misalignment_ = 0;  // of the start, within its unit
  bool ascends_ = false;
  std::uint64_t small_mask_ = 0;     // unplaced units, if the mask has room for them
  std::vector<std::uint64_t> mask_;  // otherwise; keeps its capacity for the next transfer
};

}  // namespace falafel::sim
