// The questions that the paper leaves open, as options, and protections that it lacks, as
// safeguards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/fabric.h"

namespace falafel::pilaf {

// Protections that can be switched off one at a time.
struct Safeguards {
  // As published.

  // A client checks the checksum of an entry (3.3). Excludes: a client follows the pointer of an
  // entry that the server is changing, out of the extents.
  bool entry_checksums = true;
  // A client checks the checksum of an extent (3.3). Excludes: a client that holds an old pointer
  // reads what the server writes to the extent next.
  bool extent_checksums = true;
  // The server moves displaced keys from the end of their chain (3.4). Excludes: a key that moves
  // is in no slot for a moment.
  bool moves_from_the_end = true;
  // The server takes the connections down before it moves the table or the extents (3.3, 4).
  // Excludes: a client keeps reading the memory that the server has left.
  bool reset_before_growing = true;

  // Beyond the paper.

  // Each change of a slot changes its entry, and a GET that finds nothing reads all entries again
  // and starts over if one has changed. Excludes: the server moves a key behind a lookup, from a
  // slot that the lookup has not reached to one that it has passed.
  bool absence_validation = false;
  // The server remembers the last change of each client, and its answer. Excludes: a change is sent
  // again after a reset (PutOnReset::send_again) and happens twice.
  bool request_deduplication = false;
  // After retries_before_message, a GET asks the server. Excludes: a GET reads forever what a
  // server that has stopped in the middle of a change has left there.
  bool bounded_retries = false;
  // The log's records carry checksums, and the replay stops in front of a wrong one. Excludes: a
  // server that dies in the middle of a flush replays a part of a record.
  bool record_checksums = false;
  // With Logging::synchronous, the server carries out a change when its record is on the disk.
  // Excludes: a GET reads a change that a restart then loses.
  bool write_ahead = false;
  // The checksums of extents and of the log's records depend on a secret, the server's incarnation,
  // which only clients know. Excludes: who chooses values stores two of which each mixture has the
  // same CRC-64, and others read a mixture.
  bool keyed_checksums = false;

  static constexpr Safeguards published() { return {}; }
  static constexpr Safeguards hardened() {
    return {.absence_validation = true,
            .request_deduplication = true,
            .bounded_retries = true,
            .record_checksums = true,
            .write_ahead = true,
            .keyed_checksums = true};
  }
};

struct SafeguardDescription {
  std::string_view name;
  bool Safeguards::*enabled;
  bool is_published;
};
inline constexpr std::array<SafeguardDescription, 10> safeguard_descriptions{{
    {"entry-checksums", &Safeguards::entry_checksums, true},
    {"extent-checksums", &Safeguards::extent_checksums, true},
    {"moves-from-the-end", &Safeguards::moves_from_the_end, true},
    {"reset-before-growing", &Safeguards::reset_before_growing, true},
    {"absence-validation", &Safeguards::absence_validation, false},
    {"request-deduplication", &Safeguards::request_deduplication, false},
    {"bounded-retries", &Safeguards::bounded_retries, false},
    {"record-checksums", &Safeguards::record_checksums, false},
    {"write-ahead", &Safeguards::write_ahead, false},
    {"keyed-checksums", &Safeguards::keyed_checksums, false},
}};

// The place to which a PUT of a present key writes its value; 3.3 allows both.
enum class Update : std::uint8_t { out_of_place, in_place_if_it_fits };
// The way in which a client learns that the server grows: by its next failing request, or by a
// message.
enum class Announcement : std::uint8_t { none, message_first };
// The action of a client whose connection breaks while it waits for the reply to a PUT or a DELETE.
enum class PutOnReset : std::uint8_t { report_unknown, send_again };
// The way of a GET to its value: READs (Pilaf), or a message (Pilaf-VO, 5.1).
enum class GetPath : std::uint8_t { reads, messages };
// The log of changes: none, one that is written later (the paper's), or one that is written before
// the reply.
enum class Logging : std::uint8_t { off, asynchronous, synchronous };

// One set of options for both sides. The server announces what clients need to know of its half.
struct Options {
  Safeguards safeguards = Safeguards::published();

  // The server. The table and the extents double when they are full.
  std::uint64_t table_entries = 65'536;
  // A multiple of min_block_bytes by a power of two.
  std::uint64_t extents_bytes = std::uint64_t{64} << 20;
  std::uint64_t min_block_bytes = 64;  // a multiple of 8
  std::uint32_t ways = 3;              // 1: linear probing, the basic design of 3.2
  std::uint32_t max_kicks = 500;
  Update update = Update::out_of_place;
  Announcement announce = Announcement::none;
  std::uint16_t service = 8;
  std::uint32_t max_clients = 64;
  std::uint32_t receives = 2;  // per client; of the size of the largest request
  std::uint32_t largest_request_bytes = 8'192;
  // The server waits this long for the flushes of the connections that it takes down.
  std::uint64_t flush_timeout_ns = 5'000'000'000;
  std::optional<std::uint64_t> hash_seed{};  // random if absent
  // The paper's default is an asynchronous log; its measurements have none (4, 5.1).
  Logging log = Logging::asynchronous;
  std::string log_name = "pilaf.log";  // of fabric::Host::keep_memory
  // A multiple of a word. When the log is full, all changes are refused.
  std::uint64_t log_bytes = std::uint64_t{64} << 20;
  std::uint64_t log_delay_ns = 1'000'000;  // from a change until its record is written

  // The client.
  GetPath gets = GetPath::reads;
  PutOnReset put_on_reset = PutOnReset::report_unknown;
  std::uint32_t probe_ahead = 1;  // entries that a lookup reads at once, 1 to 3
  // After this number of repeated READs, a GET answers `busy`. None: it never gives up.
  std::optional<std::uint64_t> max_retries{};
  std::uint64_t retries_before_message = 64;  // with Safeguards::bounded_retries
  // An operation tries this long to reach the server, and waits this long for a reply.
  std::uint64_t server_timeout_ns = 20'000'000'000;
  std::uint64_t reconnect_pause_ns = 20'000;  // between two attempts
  // A client that waits for a reply checks this often that the connection is still up.
  std::uint64_t check_interval_ns = 1'000'000;

  // Both: the time-out of one delivery attempt of the network, and the number of retries.
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;
};

// A message about the first option that is out of range for this device.
std::optional<std::string> find_invalid_option(const Options& options,
                                               const fabric::DeviceAttributes& device);

}  // namespace falafel::pilaf
