// Switches for everything that keeps the store correct. The algorithms of the thesis alone are
// correct only while no memory is reused and no cleanup runs. Each safeguard excludes an
// interleaving that breaks them, and switching it off shows how. The client and the server of a
// store must use the same settings.
#pragma once

#include <array>
#include <string_view>

namespace falafel::engine {

struct Safeguards {
  // A client reads an entry and pauses. The server collects the container's region and grants it
  // again. The client then reads another key's container there or, after 2^30 changes, swaps an
  // entry that it does not know. On: the server grants collected memory again only after every
  // client that was connected at the end of the collection has completed its earlier operations or
  // has been fenced.
  bool epoch_reclamation = true;

  // A client finds the first slots of a chain occupied by other keys. The cleanup moves the
  // client's key into one of them. The client continues to the key's previous slot and finds it
  // empty. On: before it answers "not found" or inserts, the client rereads every word of the walk
  // and restarts if a slot may have been bound to another key.
  bool double_collect = true;

  // A DELETE intervenes between the collector's copy and its compare-and-swap, and the entry
  // continues to point into the collected region. On: the collector retries as long as the entry
  // points there.
  bool collector_retry = true;

  // The collector has passed a slot when the cleanup moves an entry there that the collector has
  // not seen. On: collection and cleanup exclude each other, and all compare-and-swaps of one have
  // completed before the other starts.
  bool exclusion = true;

  // A client that the server gave up on still has requests in flight, which arrive after its region
  // was scanned or granted again. On: before the server scans the region, it moves the client's
  // queue pair to the error state, drains it, and revokes its write access.
  bool fence_before_reclaim = true;

  // A client releases a full region while another of its operations is about to publish a container
  // there, so the entry appears after the collector has passed its slot. On: a client releases a
  // region only after everything that refers to it has completed.
  bool release_after_completion = true;

  // The collector's compare-and-swaps are still in flight when the region is granted again, or fail
  // unnoticed. On: the server frees a region only after all of them have completed.
  bool drain_before_free = true;

  // A client reads an entry and pauses. Others change the entry and change it back to the same
  // word, and the client's compare-and-swap succeeds. On: every change that could recreate a word
  // increments the tag, and the cleanup increments the tags of all entries that it locks.
  bool tag_discipline = true;

  // A client finds the empty slot at the end of a chain and pauses. The cleanup moves entries
  // forward, another client inserts the same key in an earlier slot, and the first client's
  // insertion also succeeds. Alternatively, the client fills the slot after the cleanup has seen it
  // empty, and the entries that the cleanup empties cut the chain. On: the cleanup locks up to and
  // including the first empty slot, which changes that slot's tag.
  bool terminator_lock = true;

  // Another client or the server changes the entry after FIND, so it may belong to another key. On:
  // SET and DELETE restart from FIND. Off: they retry the swap with the new word as expected value.
  bool restart_after_lost_compare_and_swap = true;

  // A client reads a container while it is being written. On: the client verifies its checksums.
  bool crc_verification = true;

  // A search in a table without an empty slot never ends, and a cleanup locks the whole table. On:
  // a search ends after the whole table; a cleanup locks two entries at a time and clears locks
  // that others left behind.
  bool bounded_walks = true;

  // A client reads an entry and pauses, or its compare-and-swap is delayed in the network. Others
  // change the entry until its tag wraps around and the word is the same again, and the
  // compare-and-swap succeeds (Behringer 4.2.3). On: the server gives up on a client that does not
  // report in time that its operations are recent; the time-out is shorter than a tag needs to wrap
  // around (docs/protocol.md, "The table").
  bool heartbeats = true;

  // A client remembers an entry in its location cache. Others change the entry until its tag wraps
  // around and the word is the same again, but belongs to another key. The client's next
  // compare-and-swap succeeds. On: the client uses a remembered entry only for a limited time after
  // it last saw the entry in the table (docs/protocol.md, "The location cache"). Without a cache,
  // there is nothing to expire.
  bool location_expiry = true;

  // In a cache, a client whose clock is ahead finds a value expired and answers "not found".
  // Another client, whose clock is behind, then finds that value. On: a client deletes an expired
  // value before it answers (docs/cache.md). Other stores have no values that expire.
  bool expired_removal = true;

  // The table grows. A client inserts a key in an empty slot of the former table after its entries
  // have moved, and other clients find the key absent or insert it a second time. On: the server
  // freezes every empty slot of a table before it moves an entry from there (docs/protocol.md, "A
  // table that grows"). The thesis has no growth.
  bool freeze_empty_slots = true;

  // The table grows. A client overwrites or deletes a key after the server has copied its entry to
  // the next table, and the change is lost. On: the server locks an entry before it moves it. The
  // thesis has no growth.
  bool lock_before_move = true;

  // The server's process ends between two steps of a cleanup or of the table's growth, and its
  // memory stays. A locked entry may then have the key of another slot, where it was moved. On: the
  // next process removes the entry of such a key with its lock. Off: it removes the lock alone, and
  // the key has two entries (docs/protocol.md, "A server that starts over its memory"). The thesis
  // has no memory that outlives a process.
  bool moved_entry_removal = true;

  // The same, and a client has deleted the key where it was moved to. On: the next process removes
  // all locks before it takes the keys from deleted entries. Off: it no longer finds that the
  // locked entry has moved, and the deleted key comes back.
  bool unlock_before_forgetting = true;

  // The thesis as published (Behringer, chapters 3 and 4).
  static constexpr Safeguards published() {
    Safeguards safeguards;
    safeguards.epoch_reclamation = false;
    safeguards.double_collect = false;
    safeguards.collector_retry = false;
    safeguards.exclusion = false;
    safeguards.fence_before_reclaim = false;
    safeguards.release_after_completion = false;
    safeguards.drain_before_free = false;
    safeguards.bounded_walks = false;
    return safeguards;
  }
  static constexpr Safeguards hardened() { return {}; }

  friend constexpr bool operator==(const Safeguards&, const Safeguards&) = default;
};

struct SafeguardDescription {
  std::string_view name;
  bool Safeguards::*enabled;
};

inline constexpr std::array<SafeguardDescription, 19> safeguard_descriptions{{
    {"epoch-reclamation", &Safeguards::epoch_reclamation},
    {"double-collect", &Safeguards::double_collect},
    {"collector-retry", &Safeguards::collector_retry},
    {"exclusion", &Safeguards::exclusion},
    {"fence-before-reclaim", &Safeguards::fence_before_reclaim},
    {"release-after-completion", &Safeguards::release_after_completion},
    {"drain-before-free", &Safeguards::drain_before_free},
    {"tag-discipline", &Safeguards::tag_discipline},
    {"terminator-lock", &Safeguards::terminator_lock},
    {"restart-after-lost-compare-and-swap", &Safeguards::restart_after_lost_compare_and_swap},
    {"crc-verification", &Safeguards::crc_verification},
    {"bounded-walks", &Safeguards::bounded_walks},
    {"heartbeats", &Safeguards::heartbeats},
    {"location-expiry", &Safeguards::location_expiry},
    {"expired-removal", &Safeguards::expired_removal},
    {"freeze-empty-slots", &Safeguards::freeze_empty_slots},
    {"lock-before-move", &Safeguards::lock_before_move},
    {"moved-entry-removal", &Safeguards::moved_entry_removal},
    {"unlock-before-forgetting", &Safeguards::unlock_before_forgetting},
}};

}  // namespace falafel::engine
