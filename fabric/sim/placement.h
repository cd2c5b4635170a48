// The progress of one READ or WRITE. Packets arrive in order. The words of arrived packets are
// moved in any order, a run of neighbors at a time. Choices decide the length of a run, from one
// word to all, so every order of words and every tear between words can happen.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/sim/options/options.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim {

struct World;

class Placement {
 public:
  struct Range {
    std::uint64_t offset;  // within the transfer
    std::uint64_t length_bytes;
    std::uint64_t first_unit;
    std::uint64_t units;
  };

  // `remote_offset` is the start of the transfer in memory, where units are aligned.
  void begin(std::uint64_t length_bytes, std::uint64_t remote_offset,
             const SimulationOptions& options);

  std::uint64_t arrived_bytes() const { return arrived_bytes_; }
  bool all_arrived() const { return arrived_bytes_ == length_bytes_; }
  bool is_last_packet_next() const { return length_bytes_ - arrived_bytes_ <= packet_bytes_; }
  bool has_unplaced() const { return unplaced_units_ != 0; }
  bool finished() const { return all_arrived() && !has_unplaced(); }
  // No further packet will arrive.
  void truncate();

  void next_packet_arrives();
  // Takes a run of units that have arrived and are not in place yet. Requires has_unplaced().
  // `units`: the sufficient answers to the question where it begins.
  Range take(World& world, Answers units = all_answers);
  std::uint64_t arrived_units() const { return arrived_units_; }
  // Bit i: unit i has arrived and is not in place yet. Only if each unit can be moved by itself.
  std::uint64_t unplaced_mask() const { return small_mask_; }
  bool can_move_any_unit(const SimulationOptions& options) const {
    return !many_units_ && !options.address_order;
  }

 private:
  Range take_everything();
  Range take_run(std::uint64_t first, std::uint64_t most);
  void mark_arrived(std::uint64_t units);
  std::uint64_t find_unplaced(std::uint64_t from) const;
  bool is_unplaced(std::uint64_t unit) const { return (word_of(unit) >> (unit % 64) & 1U) != 0; }
  std::uint64_t word_of(std::uint64_t unit) const {
    return many_units_ ? mask_[unit / 64] : small_mask_;
  }
  std::uint64_t& word_of(std::uint64_t unit) {
    return many_units_ ? mask_[unit / 64] : small_mask_;
  }
  std::uint64_t start_of(std::uint64_t unit) const;
  std::uint64_t units_within(std::uint64_t bytes) const;

  std::uint64_t length_bytes_ = 0;
  std::uint64_t arrived_bytes_ = 0;
  std::uint64_t packet_bytes_ = 0;
  std::uint64_t unit_shift_ = 0;
  std::uint64_t misalignment_ = 0;  // of the start, within its unit
  std::uint64_t units_ = 0;
  std::uint64_t arrived_units_ = 0;
  std::uint64_t unplaced_units_ = 0;
  std::uint64_t small_mask_ = 0;     // unplaced units, if there are at most 64
  std::vector<std::uint64_t> mask_;  // otherwise; keeps its capacity for the next transfer
  bool many_units_ = false;
};

}  // namespace falafel::sim
