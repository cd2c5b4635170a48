// Options of SWARM-KV, and the protections of its protocol, which can be switched off one at a
// time. Those that are published are in the authors' code; the others are remedies of ours.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace falafel::swarm {

struct Safeguards {
  // An operation waits for a majority of the memory nodes. Excludes: a read and an earlier write
  // meet different nodes.
  bool majorities = true;
  // A GET that does not find its word at a majority puts it there, with its value. Excludes: a
  // later GET does not meet that word any more.
  bool write_back = true;
  // The buffer is written before the word that refers to it. Excludes: a GET follows the word to
  // nothing.
  bool buffer_first = true;
  // A compare-and-swap that fails is repeated until the node has the word or a newer one. Excludes:
  // the word that was there is older than the one that the client has to put there.
  bool repeated_swaps = true;
  // Data in place counts only if its hash is right. Excludes: two writers' data are mixed.
  bool in_place_hash = true;
  // A GET locks the buffer of a guess before it returns its value. Excludes: the writer withdraws
  // the guess, and writes the value again.
  bool reader_locks = true;
  // Before that, it reads the words twice, so it learns of two guesses of one writer. Excludes: a
  // GET locks one guess after the other, and never ends.
  bool read_before_lock = true;
  // With the lock, it reads the words once more. Excludes: the writer has looked for a lock before.
  bool read_after_lock = true;
  // A writer that was overtaken puts the newer word at a majority, and then looks for a lock before
  // it writes again. Excludes: as reader_locks.
  bool writer_checks = true;
  // A GET that has seen a word takes no older one for the newest. Excludes: the node that has the
  // second guess of a writer fails, and the first one, which is read after it, looks like the
  // second.
  bool remembered_words = true;
  // Timestamps follow the newest one that was seen. Excludes: the second timestamp of an overtaken
  // write is as stale as its guess.
  bool followed_clock = true;

  // Remedies.

  // A client leaves a memory node alone that has started again. Excludes: a node that has lost its
  // memory counts as one of a majority.
  bool incarnations = true;
  // A writer that all nodes have overtaken puts no newer word anywhere, and a GET that finds a
  // newer word behind a lock reads its value. Excludes: a word goes with a value that is not its
  // own.
  bool repair_contents = true;
  // An overtaken writer leaves out the look at locks only if no node can have had its guess.
  // Excludes: the node that had it does not answer, or answers a repeated swap, and a reader has
  // counted the guess.
  bool certain_absence = true;
  // A write fills the buffer of each node that it reaches, also of one that it turns to later.
  // Excludes: a node has the word, and an empty buffer.
  bool filled_buffers = true;
  // A GET that cannot fetch the value of the newest word reads the words again. Excludes: the only
  // node that has the value stops between the two steps.
  bool repeated_reads = true;
  // A client that has given up a write guesses no more. Excludes: a reader that finds two guesses
  // of it returns the first one, which no majority has and no later GET finds.
  bool ended_guesses = true;
  // An insert takes the first free slot of the index in an order that depends on the key alone, and
  // one that finds its slot taken searches again. Excludes: two registers for one key, or none.
  bool unique_inserts = true;
  // A register is not used for another key if a connection has broken that had the first one.
  // Excludes: the first key lands late, and replaces the other one.
  bool landed_keys = true;
  // A client compares the key of a register that the index names. Excludes: two keys with the same
  // slots and the same fingerprint share a register.
  bool key_checks = true;
  // The index is on a node of its own, which does not stop. Excludes: with the memory node that has
  // the index of a key, the key is gone for all clients that have not cached its register.
  bool own_index_node = true;
};

struct SafeguardDescription {
  std::string_view name;
  bool Safeguards::*enabled;
  bool is_published;
};
inline constexpr std::array<SafeguardDescription, 21> safeguard_descriptions{{
    {"majorities", &Safeguards::majorities, true},
    {"write-back", &Safeguards::write_back, true},
    {"buffer-first", &Safeguards::buffer_first, true},
    {"repeated-swaps", &Safeguards::repeated_swaps, true},
    {"in-place-hash", &Safeguards::in_place_hash, true},
    {"reader-locks", &Safeguards::reader_locks, true},
    {"read-before-lock", &Safeguards::read_before_lock, true},
    {"read-after-lock", &Safeguards::read_after_lock, true},
    {"writer-checks", &Safeguards::writer_checks, true},
    {"remembered-words", &Safeguards::remembered_words, true},
    {"followed-clock", &Safeguards::followed_clock, true},
    {"incarnations", &Safeguards::incarnations, false},
    {"repair-contents", &Safeguards::repair_contents, false},
    {"certain-absence", &Safeguards::certain_absence, false},
    {"filled-buffers", &Safeguards::filled_buffers, false},
    {"repeated-reads", &Safeguards::repeated_reads, false},
    {"ended-guesses", &Safeguards::ended_guesses, false},
    {"unique-inserts", &Safeguards::unique_inserts, false},
    {"landed-keys", &Safeguards::landed_keys, false},
    {"key-checks", &Safeguards::key_checks, false},
    {"own-index-node", &Safeguards::own_index_node, false},
}};

// The nodes to which a client turns at once.
enum class Contacts : std::uint8_t {
  majority,  // the others only when one of these does not answer (the authors' code)
  all
};

// All memory nodes and clients have the same options.
struct Options {
  Safeguards safeguards{};

  bool guesses = true;   // without: the authors' baseline, which reads timestamps first
  bool in_place = true;  // the first node of a key also has its data in place
  Contacts contacts = Contacts::majority;
  // Per register, of which each client swaps one, by its number. 0: one for each client, as in the
  // authors' measurements (their scripts run with -T 0).
  std::uint32_t metadata_words = 0;
  std::uint64_t cached_keys = 1'000'000;

  // A guess counts ticks, and is this many ticks ahead of the newest timestamp that was seen. The
  // authors take a third of the shortest round trip, so that two operations of one client differ.
  std::uint64_t tick_ns = 466;
  std::uint64_t ticks_ahead = 3;

  std::uint32_t writers = 64;  // clients, each with a number of its own
  std::uint32_t registers_per_writer = 64;
  std::uint32_t buffers_per_writer = 64;
  std::uint32_t index_bits = 6;        // 2^bits main buckets
  std::uint32_t fingerprint_bits = 8;  // of the key, in a slot of the index
  std::uint32_t key_bytes = 16;        // the longest key
  std::uint32_t value_bytes = 24;

  std::uint16_t service = 12;
  std::uint64_t connect_timeout_ns = 20'000'000'000;
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;
  std::uint32_t connections_per_request = 3;  // that may break before the client gives up a node
};

}  // namespace falafel::swarm
