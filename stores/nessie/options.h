// The questions that the paper leaves open, as options; its performance mechanisms, as switches;
// and protections that it lacks, as safeguards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/fabric.h"

namespace falafel::nessie {

// Protections that can be switched off one at a time.
struct Safeguards {
  // As published.

  // A GET that finds nothing, and a PUT before it completes, read the ITEs again in reverse order
  // and give up if one has changed (4.2.1, 4.2.2). Excludes: a MIGRATE moves the key behind a GET;
  // two PUTs of a new key use two slots.
  bool reverse_pass = true;
  // A replaced DTE is used again only after its expiry (4.3.1). Excludes: a GET reads an ITE and
  // then, from its DTE, what another PUT is writing there.
  bool expiration = true;

  // Beyond the paper.

  // Each use of a DTE gives it a new number: its index plus a multiple of the table's size.
  // Excludes: a CAS that is delayed beyond the expiry finds the word of a later use of the DTE.
  bool entry_generations = false;
  // A PUT looks at all ITEs of its key before it changes one, prefers the one that has the key,
  // and gives up if another one has changed since. Excludes: a PUT removes an older entry of its
  // key and then gives up.
  bool whole_forward_pass = false;
  // A GET that has found its key reads the ITE again. Excludes: the DTE was used again between the
  // READ of the ITE and that of the DTE.
  bool validated_hits = false;
  // A PUT sets the valid bit by the processor's compare-and-swap, which is a fence. Excludes: the
  // PUT returns while its valid bit is in the store buffer, and a later GET misses it.
  bool fenced_valid_bit = false;
  // A DTE in use has an expiry that never passes. Excludes: a node sees the recycle bit of a mark
  // before its expiry, and takes the expiry of the previous use.
  bool expiry_reset = false;

  // Safeguards of NessieSD and NessieHY.

  // Workers of a node lock the slots that an operation concerns. Excludes: two workers insert into
  // one slot. The paper says only that a server provides mutual exclusion (2.3.1).
  bool group_locks = true;
  // A worker changes an ITE by the processor's compare-and-swap, which is a fence. Excludes: a
  // client on the worker's node sees a change that is still in the store buffer, and another node
  // misses it afterwards. NessieHY only, because nobody else reads ITEs.
  bool fenced_index = false;
  // The checksums of messages (Arrival::checksum) depend on a secret, Options::hash_seed. Excludes:
  // who chooses values stores two of the same CRC-64, and a receiver takes the earlier one, which
  // is still in the slot, for that of a message of which only the other words have arrived.
  bool keyed_checksums = false;

  static constexpr Safeguards published() { return {}; }
  static constexpr Safeguards hardened() {
    return {.entry_generations = true,
            .whole_forward_pass = true,
            .validated_hits = true,
            .fenced_valid_bit = true,
            .expiry_reset = true,
            .fenced_index = true,
            .keyed_checksums = true};
  }
};

struct SafeguardDescription {
  std::string_view name;
  bool Safeguards::*enabled;
  bool is_published;
};
inline constexpr std::array<SafeguardDescription, 10> safeguard_descriptions{{
    {"reverse-pass", &Safeguards::reverse_pass, true},
    {"expiration", &Safeguards::expiration, true},
    {"entry-generations", &Safeguards::entry_generations, false},
    {"whole-forward-pass", &Safeguards::whole_forward_pass, false},
    {"validated-hits", &Safeguards::validated_hits, false},
    {"fenced-valid-bit", &Safeguards::fenced_valid_bit, false},
    {"expiry-reset", &Safeguards::expiry_reset, false},
    {"group-locks", &Safeguards::group_locks, true},
    {"fenced-index", &Safeguards::fenced_index, false},
    {"keyed-checksums", &Safeguards::keyed_checksums, false},
}};

// The party that carries out operations (5): the clients (NessieCD), the workers of the node that
// has the key (NessieSD), or the clients GETs and the workers changes (NessieHY).
enum class Architecture : std::uint8_t { client_driven, server_driven, hybrid };
// The sign by which the receiver of a message knows that all of it has arrived. The first one
// requires a device that places_in_address_order. The second one sends the first word by a WRITE of
// its own, after the others; the processor may see it before them all the same (docs/fabric.md).
enum class Arrival : std::uint8_t { tail_in_address_order, separate_flag_write, checksum };

// The word of a slot that has been emptied: always the same, or one that keeps the number of the
// DTE that was there. The paper says only that a bit marks it as empty.
enum class EmptyWord : std::uint8_t { constant, keeps_dte };
// The action of a PUT that gives up after its CAS: it leaves its ITE, or swaps it back.
enum class Abort : std::uint8_t { leave, restore };
// A PUT gives up if it meets an invalid DTE: of its key, or of any key.
enum class GiveUpOnInvalid : std::uint8_t { same_key, any };
// The times at which an operation checks whether its expiration period has passed.
enum class DeadlineCheck : std::uint8_t { before_each_verb, at_end, both };
// The sign by which a client learns that a READ or CAS is complete: the completion queue, or the
// last bit of its buffer (4.1.1). The latter requires a device that places_in_address_order.
enum class Completion : std::uint8_t { queue, watermark };

// All nodes and clients of a deployment have the same options.
struct Options {
  Safeguards safeguards = Safeguards::published();
  Architecture architecture = Architecture::client_driven;

  // Tables, per node.
  std::uint64_t index_entries = 65'536;
  std::uint64_t data_entries = 65'536;
  std::uint64_t most_key_bytes = 128;
  std::uint64_t most_value_bytes = 4'096;
  std::uint32_t ways = 3;  // candidates of a key
  // Random, and known to clients only, where users choose keys and values.
  std::uint64_t hash_seed = 0;

  // Mechanisms of 4.1.3 and 4.3.2.
  std::uint32_t filter_bits = 7;      // 0: none
  std::uint64_t cache_entries = 256;  // of the node, for all of its clients; 0: none
  bool previous_versions = true;
  bool multi_read = true;
  bool lazy_marks = false;  // mark replaced DTEs before the next operation, not at once

  EmptyWord emptied = EmptyWord::constant;
  Abort abort = Abort::leave;
  GiveUpOnInvalid give_up_on_invalid = GiveUpOnInvalid::same_key;
  DeadlineCheck deadline_check = DeadlineCheck::both;
  Completion completion = Completion::queue;
  std::uint32_t most_migrations = 8;  // recursion of MIGRATE

  // Workers, and clients that a node has in its lifetime, for NessieSD and NessieHY. Each client
  // has a slot for its requests.
  std::uint32_t server_workers = 2;
  std::uint32_t most_clients = 256;
  std::uint64_t slots_per_lock = 64;
  Arrival arrival = Arrival::tail_in_address_order;
  // Runs with Arrival::tail_in_address_order and Completion::watermark on a device that does not
  // promise that order.
  bool assumes_address_order = false;
  // A client waits this long for a response. The paper has no time-out.
  std::uint64_t request_timeout_ns = fabric::never_ns;

  std::uint64_t expiration_ns = 1'000'000'000;
  // An operation gives up this much earlier, because clocks differ.
  std::uint64_t clock_error_ns = 1'000'000;

  std::uint16_t service = 9;
  // A client tries this long to connect to a node.
  std::uint64_t connect_timeout_ns = 20'000'000'000;
  std::uint64_t reconnect_pause_ns = 20'000;  // between two attempts
  // The time-out of one delivery attempt of the network, and the number of retries.
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;

  bool is_client_driven() const { return architecture == Architecture::client_driven; }
  bool is_hybrid() const { return architecture == Architecture::hybrid; }

  // With all safeguards, and the readings that need none beyond them.
  static Options hardened(Architecture architecture = Architecture::client_driven);
  // As published.
  static Options published(Architecture architecture);
};

// A message about the first option that is out of range for this device.
std::optional<std::string> find_invalid_option(const Options& options, std::uint64_t nodes,
                                               const fabric::DeviceAttributes& device);

}  // namespace falafel::nessie
