// Refusals: an operation may give up only if a small model of the store says that it had to.
//
// - value_too_large, of a SET: the container is longer than a region, or than a request may be.
// - table_full, of a SET: at some moment during the SET every entry of the last table that there is
//   room for was occupied, and none of them
//   was deleted. Deleted entries are allowed if the server began a cleanup after the call, or if a
//   deleted entry became live again during the SET: a client that reads a slot twice can miss the
//   deleted entry in between.
// - out_of_memory, of a SET: during the SET the server denied somebody a region for the same need
//   (to store any key, or to overwrite) at a moment when it could not grant one:
//   - no region that was granted before the call was released or being collected;
//   - no region was free or waiting for clients; or some region was free, but the mature space had
//     no room for what one more region can hold, even without garbage. The reserve is for those who
//     overwrite. Blocks: the reserve was not usable besides that region (free, or what collections
//     gain: the dead bytes of a full block, or all that is not live but the length of its longest
//     container); or no block was waiting for clients, too few were free, and none was worth a
//     collection, which gains a 64th of the block;
//   - if clients have to give regions back: connected clients held only regions that were granted
//     after the call.
//   The model takes the garbage that the server found when it last measured. That measurement must
//   have begun after the call, or no longer ago than ten times its duration and than the heartbeat
//   time-out. A SET overwrites if
//   its key had a container of at least that length from the call to the refusal. Other operations
//   are never refused like this. A failed registration of memory during the operation excuses any.
// - timed_out: the operation lasted at least as long as the time-out, or its last walk as long as a
//   walk may last.
//
// Properties: "refusal.value-too-large", "refusal.table-full", "refusal.out-of-memory",
// "refusal.timed-out".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "checkers/memory_view.h"
#include "checkers/table_watch.h"

namespace falafel::checkers {

enum class Refusal : std::uint8_t { value_too_large, table_full, out_of_memory, timed_out };
std::string_view to_string(Refusal refusal);

// The purpose for which a SET needs memory.
enum class Need : std::uint8_t { any_key, overwrite };

struct RefusalRules {
  std::uint64_t longest_container_bytes = 0;
  std::uint64_t value_prefix_bytes = 0;  // of each value in the store, before the caller's bytes
  std::uint64_t server_timeout_ns = 0;
  std::uint64_t heartbeat_timeout_ns = 0;
  std::optional<std::uint64_t> longest_walk_ns{};  // empty: a walk may last for ever
  bool gives_regions_back = true;
  bool keeps_reserve = true;
  bool evicts = false;  // the server deletes values before it refuses a SET
};

// The server's books at the moment of a denial.
struct DenialBooks {
  const MemoryView& memory;
  std::span<const std::uint32_t> clients;           // numbers of the connected clients
  std::optional<engine::MeasurementTime> measured;  // the last measurement of live bytes
};

class RefusalChecker {
 public:
  struct Call {
    std::uint64_t moment = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t walk_ns = 0;           // when its last walk began, or earlier
    std::uint64_t last_incarnation = 0;  // of the regions granted before the call
    std::uint64_t cleanups = 0;          // begun before the call
  };

  explicit RefusalChecker(const RefusalRules& rules) : rules_(rules) {}

  // The server restarted: its table is empty.
  void on_restart();
  // An entry has changed.
  void on_table(const TableWatch& table, const engine::Geometry& geometry, std::uint64_t time_ns);
  // The server has denied somebody a region.
  void on_denied(Need need, const DenialBooks& books, std::uint64_t time_ns, std::uint64_t step);
  // Somebody's registration of memory failed.
  void on_registration_failed() { last_failed_registration_ = ++moment_; }

  // `regions`: empty without a server. `cleanups`: begun so far.
  Call on_call(std::span<const engine::RegionInspection> regions, std::uint64_t cleanups,
               std::uint64_t time_ns);
  // `need`: overwrite if the key had a container of at least that length from the call to the
  // refusal.
  void on_refused(const Call& call, const Operation& operation, Refusal refusal, Need need,
                  std::uint64_t cleanups, std::uint64_t time_ns, std::uint64_t step);

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  struct Denial {
    Need need = Need::any_key;
    std::uint64_t moment = 0;
    std::uint64_t step = 0;
    std::uint64_t oldest_incarnation = 0;  // of the regions of connected clients
    std::uint64_t oldest_collected = 0;    // of the regions that are released or being collected
    std::uint64_t latest_call_ns = 0;      // the measurement is too old for later calls
    std::string objection{};               // why the denial was wrong, whoever called
  };
  struct Live {
    std::uint64_t time_ns = 0;
    std::uint64_t bytes = 0;
    std::vector<TableWatch::LiveSpace> blocks{};
  };

  void note_table();
  // These return an empty text if there is no objection.
  std::string objection_to(Need need, const DenialBooks& books,
                           std::optional<std::uint64_t> measured_ns) const;
  std::string objection_to_lack_of_room(Need need, const MemoryView& view,
                                        std::uint64_t live_bytes) const;
  std::string objection_to_lack_of_blocks(Need need, const MemoryView& view,
                                          const Live& live) const;
  Live live_since(std::optional<std::uint64_t> time_ns) const;
  bool is_outdated(const std::optional<engine::MeasurementTime>& measured,
                   std::uint64_t time_ns) const;
  std::string objection_to(const Denial& denial, const Call& call) const;
  std::string objection_to_full_table(const Call& call, std::uint64_t cleanups) const;
  std::string objection_to_lack_of_memory(const Call& call, Need need) const;
  std::string objection_to(const Call& call, const Operation& operation, Refusal refusal, Need need,
                           std::uint64_t cleanups, std::uint64_t time_ns) const;

  RefusalRules rules_;
  std::uint64_t moment_ = 1;
  // The last moments at which no entry was empty, all were live, and a deleted one became live.
  std::uint64_t last_full_ = 0;
  std::uint64_t last_live_ = 0;
  std::uint64_t last_revived_ = 0;
  bool is_full_ = false;
  bool is_live_ = false;
  std::uint64_t revived_entries_ = 0;
  std::uint64_t last_failed_registration_ = 0;
  std::uint64_t evictable_values_ = 0;
  std::vector<Live> live_;  // every change of what is live, with its time
  std::vector<Denial> denials_;
  Judgement judgement_{.verdict = Verdict::holds, .property = "refusal", .explanation = {}};
};

}  // namespace falafel::checkers
