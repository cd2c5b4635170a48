// What keeps the store correct, switch by switch. The algorithms of the thesis alone are correct only
// while no memory is reused and no cleanup runs; each safeguard excludes an interleaving that breaks
// them, and can be switched off to see it break. Client and server of a store have the same settings.
#pragma once

#include <array>
#include <string_view>

namespace falafel::engine {

struct Safeguards {
  // A client reads an entry and pauses; the container's region is collected and granted again; the
  // client reads another key's container there, or (after 2^30 changes) swaps an entry that it does not
  // know. On: collected memory is granted again only after every client that was connected when its
  // collection ended has since been without old operations, or has been fenced.
  bool epoch_reclamation = true;

  // A client finds the first slots of a chain occupied by others; cleanup moves the client's key into
  // one of them; the client goes on to the slot where the key was and finds it empty. On: before it
  // answers "not found" or inserts, it reads every walked word again, and restarts if a slot may have got
  // another key.
  bool double_collect = true;

  // A DELETE comes between the collector's copy and its compare-and-swap; the entry goes on pointing
  // into the collected region. On: the collector tries again while the entry points there.
  bool collector_retry = true;

  // The collector has walked past a slot when cleanup moves an entry there that it had not met yet. On:
  // collection and cleanup take turns, and no compare-and-swap of the one is left when the other begins.
  bool exclusion = true;

  // A client that was given up still has requests under way: they land after its region was scanned or
  // granted again. On: its queue pair is in error and drained, and its right to write is revoked, before
  // its region is scanned.
  bool fence_before_reclaim = true;

  // A client releases a full region while another of its operations is about to publish a container
  // there: the entry appears after the collector has passed. On: a region is released only when
  // everything that refers to it has completed.
  bool release_after_completion = true;

  // The collector's compare-and-swaps are under way when the region is granted again, or fail unnoticed.
  // On: a region is freed only after all of them have completed.
  bool drain_before_free = true;

  // A client reads an entry and pauses; others change it, and change it back to the same word; the
  // client's compare-and-swap succeeds. On: every change that could recreate a word increments the tag;
  // cleanup increments the tags of all entries that it locks.
  bool tag_discipline = true;

  // A client found the empty slot at a chain's end and pauses; cleanup moves entries forward and another
  // client inserts the same key further up; the first one's insertion succeeds as well. Or it fills the
  // slot after the cleanup has seen it empty, and what the cleanup empties cuts its chain. On: cleanup
  // locks through the first empty slot (and so changes its tag).
  bool terminator_lock = true;

  // Another client or the server changed the entry since FIND: it may belong to another key by now. On:
  // SET and DELETE start over from FIND. Off: they swap against the word that they lost to.
  bool restart_after_lost_compare_and_swap = true;

  // A container is read while it is being written. On: its checksums are compared.
  bool crc_verification = true;

  // A table without an empty slot is walked for ever, and a cleanup locks all of it. On: a walk ends after the
  // whole table; a cleanup locks two entries at a time, and clears what foreign locks there are.
  bool bounded_walks = true;

  // A client reads an entry and pauses, or its compare-and-swap is held up on its way; others change the
  // entry until its tag has come round and the word is the same again; the compare-and-swap succeeds
  // (Behringer 4.2.3). On: the server gives up a client that does not say in time that its operations
  // are young, which is before a tag can come round (docs/protocol.md, "The table").
  bool heartbeats = true;

  // The thesis to the letter (Behringer, chapters 3 and 4).
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

inline constexpr std::array<SafeguardDescription, 13> safeguard_descriptions{{
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
}};

}  // namespace falafel::engine
