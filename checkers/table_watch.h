// Invariants of the table while clients are active, checked whenever an entry changes.
//
// - An entry points to a container that verifies, and has the fingerprint of its key and the size
//   class of its length.
// - An occupied entry keeps its key until it is locked or emptied.
// - No key is in two unlocked entries.
// - A search from a key's home slot reaches the key: no unlocked entry on the way is empty.
//
// A search begins in the first table in use, and goes on in the next one behind a frozen entry and
// behind a whole table.
//
// A locked entry belongs to the cleanup, or is moving to another table, and a search that finds it
// restarts, so the invariants do not apply to locked entries. Properties: "table.unreadable",
// "table.wrong-reference", "table.rebound-slot", "table.duplicate-key", "table.unreachable-key".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/judgement.h"
#include "checkers/memory_view.h"
#include "engine/layout/entry.h"

namespace falafel::checkers {

class TableWatch {
 public:
  // All entries are initially empty.
  // `slot_count`: of all tables that there is room for.
  explicit TableWatch(std::uint64_t slot_count) : slots_(slot_count), counts_(1) {}
  void clear();
  // The table is that of the memory in `view`, in which it has been changed unseen.
  void adopt(const MemoryView& view, std::uint64_t step);

  // Call in the order in which the changes take effect, before the memory in `view` contains the
  // new word.
  void on_changed(std::uint64_t slot, engine::Entry next, const MemoryView& view,
                  std::uint64_t step);

  engine::Entry entry(std::uint64_t slot) const { return slots_[slot].entry; }
  // These count entries of the last table. Locked ones may be empty.
  std::uint64_t empty_entries() const { return last_entries_ - counts_[last_table_].occupied; }
  std::uint64_t deleted_entries() const { return counts_[last_table_].deleted; }
  // At the last change.
  std::uint32_t last_table() const { return last_table_; }
  // The number of times that a deleted entry became a live one.
  std::uint64_t revived_entries() const { return revived_; }
  bool is_any_locked() const { return locked_ > 0; }
  // The slot of a key that is live and not locked.
  std::optional<std::uint64_t> find(std::string_view key) const;
  // Returns whether any entry has the key, with whatever flags.
  bool has_entry_of(std::string_view key) const;
  // The length of the container of a slot that is live and not locked, in whole units; else 0.
  std::uint64_t live_container_bytes(std::uint64_t slot, const engine::Geometry& geometry) const;
  // The bytes of the mature spaces that would be in use if all garbage there were collected.
  std::uint64_t live_mature_bytes() const { return live_mature_bytes_; }
  // The same for each of them, with the longest of the containers.
  struct LiveSpace {
    std::uint64_t bytes = 0;
    std::uint64_t longest_bytes = 0;

    friend bool operator==(const LiveSpace&, const LiveSpace&) = default;
  };
  std::vector<LiveSpace> live_mature_spaces(const engine::Geometry& geometry) const;

  // Live values in the mature spaces that may be evicted: neither pinned nor of locked entries.
  std::uint64_t evictable_values() const { return evictable_values_; }

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  struct Slot {
    engine::Entry entry;
    std::string key{};  // empty: the entry is empty, or its container has no key
    std::uint64_t hash = 0;
    std::uint32_t reference = 0;  // of an entry that points to the container
    std::uint64_t key_end = 0;    // of the container, without the value
    std::uint64_t container_bytes = 0;
    bool is_pinned = false;

    bool has_key() const { return !key.empty() && !entry.is_locked(); }
  };
  enum class Counting : std::uint8_t { in, out };

  void count(std::uint64_t number, const Slot& slot, const engine::Geometry& geometry,
             Counting counting);
  static std::uint64_t kept_bytes(const Slot& slot, const engine::Geometry& geometry);
  bool read_key(Slot& slot, const MemoryView& view) const;
  void violate_unreadable(std::uint64_t slot, const MemoryView& view, std::uint64_t step);
  void judge(std::uint64_t slot, const Slot& previous, const MemoryView& view, std::uint64_t step);
  void judge_bound_slot(std::uint64_t slot, const MemoryView& view, std::uint64_t step);
  void judge_empty_slot(std::uint64_t slot, const MemoryView& view, std::uint64_t step);
  void judge_tables_before(std::uint64_t slot, const MemoryView& view, std::uint64_t step);
  bool is_on_the_way(std::uint64_t slot, std::uint64_t hash, std::uint64_t end,
                     const MemoryView& view) const;
  bool is_before_frozen(std::uint64_t slot, std::uint64_t hash, const MemoryView& view) const;
  bool is_frozen(std::uint64_t slot, const MemoryView& view) const;
  void violate(std::string property, std::string explanation, std::vector<std::uint64_t> slots,
               std::uint64_t step);

  struct Counts {
    std::uint64_t occupied = 0;
    std::uint64_t deleted = 0;
  };

  void note_last_table(const MemoryView& view);

  std::vector<Slot> slots_;
  std::vector<Counts> counts_;  // by table
  std::uint32_t last_table_ = 0;
  std::uint64_t last_entries_ = slots_.size();  // of that table
  std::uint64_t revived_ = 0;
  std::uint64_t locked_ = 0;
  std::uint64_t live_mature_bytes_ = 0;
  std::uint64_t evictable_values_ = 0;
  Judgement judgement_{.verdict = Verdict::holds, .property = "table", .explanation = {}};
};

}  // namespace falafel::checkers
