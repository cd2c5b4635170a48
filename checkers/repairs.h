// Repairs: the server unlocks an entry that a hostile client has locked only if searches for its
// key pass the entry (docs/protocol.md, "What the audit repairs"). Otherwise the key would be there
// and nobody would find it, and a later SET of it would make a second entry.
//
// A search from the home slot of the key ends at the first empty entry. The checker therefore looks
// at what the party that repairs has read: of each entry between the home slot and the repaired
// one, the last word that it read was not empty. A client may empty such an entry afterwards, and
// then the repair is still right.
//
// A removal that moves entries towards their home slots may meet a lock of a hostile client and
// give up. It must not unlock the old entry of a container that it has moved, or the key would have
// two entries.
//
// Properties: "repair.unreachable", "repair.moved-entry".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "checkers/judgement.h"
#include "engine/layout/entry.h"
#include "engine/layout/geometry.h"

namespace falafel::checkers {

class Repairs {
 public:
  explicit Repairs(const engine::Geometry& geometry) : geometry_(geometry) {}

  // The server starts over.
  void clear();
  // A party of the server read an entry.
  void on_read(std::uint32_t party, std::uint64_t slot, engine::Entry entry) {
    read_[{party, slot}] = entry;
  }
  enum class Party : std::uint8_t { server, client, hostile };
  // Somebody changed an entry.
  void on_changed(std::uint64_t slot, engine::Entry previous, engine::Entry next, Party party,
                  std::uint64_t step);
  // Returns whether that change of the server removes a lock of a hostile client and nothing else.
  bool is_repair(std::uint64_t slot, engine::Entry previous, engine::Entry next) const;
  // Call for repairs, before on_changed(), with the hash of the key in the entry's container.
  void on_repaired(std::uint32_t party, std::uint64_t slot, std::uint64_t hash, std::uint64_t step);

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  // Returns whether the change may have moved another entry of the same container to the slot.
  bool is_filled(std::uint64_t slot, engine::Entry next) const;
  void note_moves(std::uint64_t slot, engine::Entry next);

  engine::Geometry geometry_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, engine::Entry> read_;  // by party and slot
  std::set<std::uint64_t> locked_by_hostile_;
  // References of the entries that the server has locked, by slot. The entry that a hostile client
  // has locked may point to memory that a collection has freed, and another container lie there.
  std::map<std::uint64_t, std::uint32_t> locked_;
  // The server has pointed another entry to the container of these since.
  std::set<std::uint64_t> moved_;
  Judgement judgement_{.verdict = Verdict::holds, .property = "repair", .explanation = {}};
};

}  // namespace falafel::checkers
