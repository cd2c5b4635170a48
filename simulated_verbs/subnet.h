// The subnet of one run: which hosts there are, and the queue pairs that peers name by number.
//
// The host with LID n has the address 10.0.0.n and the GID ::ffff:10.0.0.n, as with RoCE. Host
// names resolve to these addresses.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/work_request.h"
#include "simulated_verbs/program_copies.h"
#include "simulated_verbs/program_heap.h"

namespace falafel::simulated_verbs {

struct QueuePair;

class Subnet {
 public:
  // Takes a violation: a property and an explanation.
  using Report = std::function<void(std::string property, std::string explanation)>;

  using QueuePairs = std::map<std::pair<std::uint16_t, std::uint32_t>, QueuePair*>;

  // Takes what a call did that the specification forbids.
  using ReportInvalidCall = std::function<void(std::string explanation)>;

  // `report_invalid_call`: empty unless the run is strict. See ProgramsOptions.
  Subnet(Report report, ReportInvalidCall report_invalid_call, bool has_shared_heaps)
      : report_(std::move(report)),
        report_invalid_call_(std::move(report_invalid_call)),
        has_shared_heaps_(has_shared_heaps) {}
  Subnet(const Subnet&) = delete;
  Subnet& operator=(const Subnet&) = delete;

  // Before the run, in the order of the hosts of the simulation. Returns its LID.
  std::uint16_t add_host(std::string name);
  std::uint16_t lid_of(std::string_view host_name) const;  // the host was added
  // Null if no host has this LID or name.
  const std::string* host_of(std::uint16_t lid) const;
  std::optional<std::uint16_t> find(std::string_view host_name) const;

  // A heap at an address of its own, which depends only on the host and on how many processes it
  // had before.
  ProgramHeap& add_heap(std::uint16_t lid);
  ProgramCopies& program_copies() { return program_copies_; }

  // Queue pair numbers are unique in the subnet, and none is given twice.
  std::uint32_t next_queue_pair_number() { return next_number_++; }
  void add(std::uint16_t lid, std::uint32_t number, QueuePair& queue_pair);
  void remove(std::uint16_t lid, std::uint32_t number) { queue_pairs_.erase({lid, number}); }
  // Null if there is none, for example because it was destroyed.
  QueuePair* find(std::uint16_t lid, std::uint32_t number) const;
  const QueuePairs& queue_pairs() const { return queue_pairs_; }

  // The fabric gives a queue pair another number than the program knows.
  void note_number(std::uint32_t in_fabric, std::uint32_t of_program);
  std::uint32_t number_of_program(std::uint32_t in_fabric) const;

  // The fabric counts offsets from the start of a block, and programs use addresses. `base`: what
  // has to be subtracted from an address.
  void note_region(std::uint32_t key, std::uint64_t base) { bases_[key] = base; }
  // The same for a memory window, whose key programs know by another number.
  std::uint32_t next_window_number() { return window_numbers + (++windows_ << window_tag_bits); }
  void note_window(std::uint32_t number, std::uint32_t key, std::uint64_t base);
  std::uint32_t number_of_window(std::uint32_t key) const;
  // The fabric refuses unknown keys, whatever the offset is.
  fabric::MemoryAddress locate(std::uint32_t key, std::uint64_t address) const;

  bool is_strict() const { return report_invalid_call_ != nullptr; }
  // Requires a strict run.
  void report_invalid_call(std::string explanation) const {
    report_invalid_call_(std::move(explanation));
  }
  void report(std::string property, std::string explanation) const {
    report_(std::move(property), std::move(explanation));
  }

 private:
  static constexpr std::uint32_t most_processes_of_host = 64;
  // Keys of regions are smaller, or have the highest bit.
  static constexpr std::uint32_t window_numbers = 0x4000'0000;
  static constexpr unsigned window_tag_bits = 8;
  static constexpr std::uint32_t first_number = 0x11;  // 0 and 1 belong to the subnet's managers

  Report report_;
  ReportInvalidCall report_invalid_call_;
  bool has_shared_heaps_;
  std::vector<std::string> hosts_;  // by LID - 1
  std::vector<std::unique_ptr<ProgramHeap>> heaps_;
  ProgramCopies program_copies_;
  std::map<std::uint16_t, std::uint32_t> processes_;  // how many there were, by LID
  QueuePairs queue_pairs_;                            // by LID and number
  std::map<std::uint32_t, std::uint32_t> numbers_;    // of the program, by that of the fabric
  std::map<std::uint32_t, std::uint64_t> bases_;
  std::uint32_t next_number_ = first_number;
  std::map<std::uint32_t, std::uint32_t> keys_of_windows_;     // by number
  std::map<std::uint32_t, std::uint32_t> numbers_of_windows_;  // by key
  std::uint32_t windows_ = 0;
};

}  // namespace falafel::simulated_verbs
