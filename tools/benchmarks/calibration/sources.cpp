#include "tools/benchmarks/calibration/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace falafel::calibration {
namespace {

struct Origin {
  std::string_view value;
  std::string_view text;
};

constexpr std::array measured_values{
    Origin{
        "post_ns",
        "time of the processor to post and poll a request of 8 bytes, the shortest of all kinds, "
        "without two locks"},
    Origin{"read_ns", "latency of a READ of 8 bytes; this is what the other times leave"},
    Origin{"write_ns", "latency of a WRITE of 8 bytes; the same"},
    Origin{"atomic_ns", "latency of a CAS; the same"},
    Origin{"send_ns", "latency of a SEND of 8 bytes; the same"},
    Origin{"link_ns_per_byte", "latency of READs of 8 and 4096 bytes, and their bandwidth"},
    Origin{"bus_ns_per_byte", "bandwidth of READs of 64 KiB, and their latency"},
    Origin{"acknowledge_ns_per_byte", "latency of WRITEs of 8 and 4096 bytes"},
    Origin{"read_gap_ns", "latency of READs of 4 and 64 KiB"},
    Origin{"read_interval_ns", "rate of READs of 8 bytes by many clients"},
    Origin{"read_interval_ns_per_byte", "rate of READs of 8 and 128 bytes"},
    Origin{"write_interval_ns", "rate of WRITEs of 8 bytes by many clients"},
    Origin{"atomic_interval_ns", "rate of CAS on different words"},
    Origin{"word_interval_ns", "rate of CAS on one word"},
    Origin{"send_interval_ns", "rate of SENDs of 8 bytes by many clients"},
    Origin{"hash_ns", "time to hash keys of 16 and 4096 bytes"},
    Origin{"hash_ns_per_byte", "the same"},
    Origin{"checksum_ns", "time of checksums over 16 and 4096 bytes"},
    Origin{"checksum_ns_per_byte", "the same"},
    Origin{"copy_ns", "time to copy 16 and 4096 bytes"},
    Origin{"copy_ns_per_byte", "the same"},
    Origin{"operation_ns",
           "latency of GETs of absent and of present keys; this is what the other times leave"},
    Origin{"round_trip_ns", "the same; what the second round trip takes longer"},
    Origin{"lock_ns", "time to take and release a lock that nobody else holds"},
    Origin{"processors", "hardware threads of the machine"}};

constexpr std::array assumed_values{
    Origin{"placement_ns", "assumed; no requester sees it"},
    Origin{"requester_interval_ns", "assumed to be write_interval_ns"}};

constexpr std::array shared_values{"doorbell_ns", "requester_ns", "wire_ns", "completion_ns",
                                   "poll_ns"};

std::string error_bars(std::string_view value, const std::vector<ShownCost>& costs) {
  for (const ShownCost& cost : costs) {
    if (std::ranges::find(cost.values, value) != cost.values.end()) return "; " + to_text(cost);
  }
  return {};
}

}  // namespace

std::string source_of(std::string_view value, std::string_view measured_on,
                      const std::vector<ShownCost>& costs, const sim::timing::Profile& base) {
  if (const auto* const origin = std::ranges::find(measured_values, value, &Origin::value);
      origin != measured_values.end()) {
    return fmt::format("{}: {}{}", measured_on, origin->text, error_bars(value, costs));
  }
  if (const auto* const origin = std::ranges::find(assumed_values, value, &Origin::value);
      origin != assumed_values.end()) {
    return std::string(origin->text);
  }
  if (std::ranges::find(shared_values, value) != shared_values.end()) {
    return fmt::format("assumed: its share of the shortest latency as in {}", base.name);
  }
  return fmt::format("not measured; as {}", base.name);
}

}  // namespace falafel::calibration
