// The questions that the paper leaves open, as options, and protections that it lacks, as
// safeguards. The functions at the end are the systems that the paper compares (C-Hint 5).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/fabric.h"
#include "stores/c_hint/popularity_queues.h"

namespace falafel::c_hint {

// Protections that can be switched off one at a time.
struct Safeguards {
  // As published.

  // The server marks items that are removed or replaced (3.5). Excludes: a client whose lease still
  // runs reads a value that was removed or overwritten.
  bool deleted_marks = true;
  // The memory of such an item is used again only after its lease has ended (3.5). Excludes: a
  // client reads what the server writes there next.
  bool delayed_reclamation = true;
  // The server evicts only items whose lease has ended (3.3). Excludes: the same, for items that
  // give way to others.
  bool eviction_after_lease = true;
  // A client uses a pointer only while its clock says that the lease runs (3.2). Excludes: the
  // same, for clients that keep pointers.
  bool lease_check = true;

  // Beyond the paper.

  // A client that checks leases does so again after the READ. Excludes: the lease ends while the
  // READ is on its way.
  bool lease_check_after_read = false;
  // A client counts a term from the time at which it sent the request. Excludes: a reply that takes
  // long makes the lease longer for the client than for the server.
  bool lease_from_request = false;
  // A new lease never ends before one that was granted for the same memory. Excludes: the server
  // grants a shorter term later, because its memory is fuller, and forgets the longer one.
  bool lease_never_shortens = false;
  // The server waits Options::clock_error_ns longer than the lease. Excludes: the client's clock is
  // behind the server's, or runs slower.
  bool clock_margin = false;
  // Items that may change in place carry a checksum. Excludes: a READ samples both versions before
  // the change, and parts of the value after it.
  bool in_place_checksums = false;
  // Every change reaches the backend before the cache. Excludes: the only copy of a value is
  // evicted, or an older one comes back from the backend.
  bool write_through = false;
  // No lease ends after the life of its item. Excludes: a client READs an item that has expired,
  // because the server has not noticed it and marked the item (3.5 does not say when it does).
  bool lease_within_life = false;
  // The checksums of items depend on a secret, the server's incarnation, which only clients know.
  // Excludes: who chooses values stores two of which each mixture has the same CRC-64, and a READ
  // during a change in place returns a mixture.
  bool keyed_checksums = false;

  static constexpr Safeguards published() { return {}; }
  static constexpr Safeguards hardened() {
    return {.lease_check_after_read = true,
            .lease_from_request = true,
            .lease_never_shortens = true,
            .clock_margin = true,
            .in_place_checksums = true,
            .write_through = true,
            .lease_within_life = true,
            .keyed_checksums = true};
  }
};

struct SafeguardDescription {
  std::string_view name;
  bool Safeguards::*enabled;
  bool is_published;
};
inline constexpr std::array<SafeguardDescription, 12> safeguard_descriptions{{
    {"deleted-marks", &Safeguards::deleted_marks, true},
    {"delayed-reclamation", &Safeguards::delayed_reclamation, true},
    {"eviction-after-lease", &Safeguards::eviction_after_lease, true},
    {"lease-check", &Safeguards::lease_check, true},
    {"lease-check-after-read", &Safeguards::lease_check_after_read, false},
    {"lease-from-request", &Safeguards::lease_from_request, false},
    {"lease-never-shortens", &Safeguards::lease_never_shortens, false},
    {"clock-margin", &Safeguards::clock_margin, false},
    {"in-place-checksums", &Safeguards::in_place_checksums, false},
    {"write-through", &Safeguards::write_through, false},
    {"lease-within-life", &Safeguards::lease_within_life, false},
    {"keyed-checksums", &Safeguards::keyed_checksums, false},
}};

// The client's way to recognize an item that changed while it was read; 2.1 mentions both.
enum class Verification : std::uint8_t { versions, checksum };
// The place to which a SET of a cached value writes.
enum class Update : std::uint8_t { in_place_if_it_fits, out_of_place };
// The form of the lease in a reply: how long it lasts, or when it ends by a clock that all hosts
// synchronize.
enum class LeaseForm : std::uint8_t { term, absolute_end };
// The length of leases. Endless leases are those of HydraDB without C-Hint.
enum class LeaseKind : std::uint8_t { by_popularity, fixed, endless };
enum class ReplacementKind : std::uint8_t { popularity_queues, lru, multi_queue };
enum class GetPath : std::uint8_t { reads, messages };
// The way of a report to the server, and of its reply to the client (3.4.1).
enum class ReportPath : std::uint8_t { write_and_notify, message };

// One set of options for both sides. The server announces what clients need to know of its half.
struct Options {
  Safeguards safeguards = Safeguards::published();

  // The server's memory.
  std::uint64_t items_bytes = std::uint64_t{64} << 20;  // min_block_bytes by a power of two
  std::uint64_t min_block_bytes = 64;                   // a multiple of 8
  Update update = Update::in_place_if_it_fits;
  Verification verification = Verification::versions;
  // READs are switched off while a smaller share of the free memory than this is in one block (4).
  std::uint32_t least_contiguous_percent = 0;

  // Shards, each of which has a part of the keys and of the memory, and a fiber of its own (2.1); a
  // power of two. Communication threads take the messages and pass them on; if there is none, the
  // only shard takes them itself.
  std::uint32_t shards = 1;
  std::uint32_t communication_threads = 0;

  // The choice of the items that give way (3.3, 5).
  ReplacementKind replacement = ReplacementKind::popularity_queues;
  std::uint32_t queues = 8;
  std::uint32_t probes = 3;  // items behind the head of a queue
  Aging aging = Aging::keeps_count;
  std::uint64_t life_time = 65'536;  // multi_queue: accesses
  std::uint64_t ghosts = 262'144;    // multi_queue: remembered counts

  // Leases (3.2, 3.3). By popularity, the term of an item in queue q is q + 1 times the unit, which
  // falls with the share of memory in use.
  LeaseKind lease = LeaseKind::by_popularity;
  LeaseForm lease_in_reply = LeaseForm::term;
  std::uint64_t unit_of_empty_memory_ns = 32'000'000'000;
  std::uint64_t unit_of_full_memory_ns = 4'000'000'000;
  std::uint64_t fixed_term_ns = 32'000'000'000;
  // By how much the end of a lease may differ between the clocks of a client and the server.
  std::uint64_t clock_error_ns = 10'000;

  // Reports (3.4). A client picks m items each of L1 and L2, m = picks_per_list.
  ReportPath report = ReportPath::write_and_notify;
  std::uint64_t report_interval_ns = 10'000'000'000;  // 0: clients do not report
  std::uint32_t picks_per_list = 128;
  std::uint32_t most_reports_in_a_row = 8;  // of the same item
  // A reported item counts as many accesses as there were READs (4). Otherwise, it counts one.
  bool report_counts = false;
  std::uint32_t container_bytes = 8'192;
  std::uint64_t report_budget_ns = 500'000;  // of the server, for one report

  // Clients.
  GetPath gets = GetPath::reads;
  std::uint64_t pointers = 65'536;  // that a client keeps

  // Connections.
  std::uint16_t service = 9;
  std::uint32_t max_clients = 64;
  std::uint32_t largest_message_bytes = 8'192;
  // An operation tries this long to reach the server, and waits this long for a reply.
  std::uint64_t server_timeout_ns = 20'000'000'000;
  std::uint64_t reconnect_pause_ns = 20'000;  // between two attempts
  // A client that waits for a reply checks this often that the connection is still up.
  std::uint64_t check_interval_ns = 1'000'000;
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;

  bool uses_checksums() const {
    return verification == Verification::checksum ||
           (safeguards.in_place_checksums && update == Update::in_place_if_it_fits);
  }
};

// HydraDB without C-Hint: pointers never expire, and nobody reports what is popular.
Options original(Options options);
// All operations by messages, so the server sees every access.
Options lru(Options options);
Options multi_queue(Options options);
// C-Hint with one queue and one term.
Options approximate_lru(Options options);
Options static_terms(Options options, std::uint64_t term_ns);

// A message about the first option that is out of range for this device.
std::optional<std::string> find_invalid_option(const Options& options,
                                               const fabric::DeviceAttributes& device);

}  // namespace falafel::c_hint
