// Scans of all keys beside a hostile client, which can point entries anywhere. A scan that answers
// that it has visited all keys has met no container that does not verify.
//
// The checker is certain only of damage that lasts as long as the scan: a live entry of a table in
// use keeps its word, and the bytes that show that its container does not verify stay the same. The
// scan reads each such entry (engine/client/key_scan.h). Property: "scan.hidden-damage".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "checkers/judgement.h"
#include "checkers/key_scans.h"
#include "checkers/memory_view.h"
#include "engine/layout/entry.h"
#include "fabric/fabric.h"

namespace falafel::checkers {

class HiddenDamage {
 public:
  // The fiber begins a scan.
  void on_scan_called(fabric::FiberId fiber, const MemoryView& view);
  // Returns whether damage is known that a pending scan must meet.
  bool is_watching() const { return !scans_.empty(); }
  // Call after each change of memory while is_watching().
  void on_memory(const MemoryView& view);
  // `is_complete`: it answers that it has visited all keys.
  void on_scan_returned(fabric::FiberId fiber, const KeyScan& scan, bool is_complete,
                        const MemoryView& view, std::uint64_t step);
  void on_scan_abandoned(fabric::FiberId fiber) { scans_.erase(fiber); }
  void on_server_died() { scans_.clear(); }

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  struct Damage {
    std::uint64_t slot = 0;
    engine::Entry entry;
    std::vector<std::byte> bytes{};  // of the container; none if no container can be there

    friend bool operator==(const Damage&, const Damage&) = default;
  };

  static std::vector<Damage> damage_in(const MemoryView& view, std::uint64_t slot);

  std::map<fabric::FiberId, std::vector<Damage>> scans_;
  Judgement judgement_{.verdict = Verdict::holds, .property = "scan", .explanation = {}};
};

}  // namespace falafel::checkers
