#include "fabric/verbs/device_check.h"

#include <fmt/format.h>

#include <string_view>

#include "fabric/verbs/cards.h"
#include "fabric/verbs/paging.h"
#include "fabric/verbs/resources.h"

namespace falafel::verbs {
namespace {

// For each client, a server has a queue pair, a protection domain and three registrations. It also
// has a domain and registrations of its own, and a queue pair whose two ends are its own.
constexpr std::uint64_t registrations_per_client = 3;

class DeviceCheck {
 public:
  DeviceCheck(const DeviceFacts& device, const Demands& demands)
      : device_(device), limits_(device.attributes), demands_(demands) {}

  std::vector<Finding> run() {
    check_connections();
    check_atomics();
    check_memory();
    check_paging();
    check_counts();
    return std::move(findings_);
  }

 private:
  void add(Grade grade, std::string fact, std::string remedy = {}) {
    findings_.push_back({.grade = grade,
                         .subject = fmt::format("device {}", device_.name),
                         .fact = std::move(fact),
                         .remedy = std::move(remedy)});
  }

  std::string another_device() const {
    const std::string advice = advice_about(limits_.vendor_id);
    return fmt::format("use another device{}{}", advice.empty() ? "" : ". ", advice);
  }

  void check_connections() {
    if (device_.transport == IBV_TRANSPORT_IWARP) {
      return add(Grade::problem, "speaks iWARP; the store needs InfiniBand or RoCE",
                 another_device());
    }
    if (device_.queue_pair_error) {
      return add(Grade::problem,
                 fmt::format("creates no reliable connection (RC): {}",
                             words_of(*device_.queue_pair_error)),
                 another_device());
    }
    add(Grade::good, "has reliable connections (RC)");
  }

  void check_atomics() {
    if (limits_.atomic_cap == IBV_ATOMIC_NONE) {
      return add(Grade::problem, "has no atomics; the store needs compare-and-swap",
                 another_device());
    }
    if (limits_.max_qp_rd_atom < 1 || limits_.max_qp_init_rd_atom < 1) {
      return add(Grade::problem,
                 fmt::format("permits {} outstanding READs and atomics as responder and {} as "
                             "requester; the store needs at least 1",
                             limits_.max_qp_rd_atom, limits_.max_qp_init_rd_atom),
                 another_device());
    }
    const bool is_global = limits_.atomic_cap == IBV_ATOMIC_GLOB;
    add(Grade::good,
        fmt::format("has atomics (against {}); {} READs and atomics outstanding",
                    is_global ? "processors too" : "the same device", limits_.max_qp_init_rd_atom));
  }

  void check_memory() {
    const bool suffices = demands_.memory_bytes <= limits_.max_mr_size;
    add(suffices ? Grade::good : Grade::problem,
        fmt::format("registers at most {} bytes as one region", limits_.max_mr_size),
        suffices ? ""
                 : fmt::format("serve with at most that much --memory, instead of {} bytes",
                               demands_.memory_bytes));
  }

  // A server works without paging, so there is nothing to change.
  void check_paging() {
    const std::string for_reads = missing_for_paging(device_.paging, {.remote_read = true});
    if (!for_reads.empty()) {
      return add(Grade::good,
                 fmt::format("pins memory: it has no on-demand paging for reliable connections "
                             "({}), so a server's memory cannot grow (--max-memory)",
                             for_reads));
    }
    const std::string for_tables = missing_for_paging(
        device_.paging, {.local_write = true, .remote_read = true, .remote_atomic = true});
    add(Grade::good,
        fmt::format("has on-demand paging, so a server's memory can grow (--max-memory){}",
                    for_tables.empty()
                        ? ""
                        : fmt::format("; it pins tables, because {} is missing", for_tables)));
  }

  void check_counts() {
    const std::uint64_t peers = std::uint64_t{demands_.clients} + 1;
    check_count("queue pairs", limits_.max_qp, peers + 1);
    check_count("protection domains", limits_.max_pd, peers);
    check_count("memory regions", limits_.max_mr, registrations_per_client * peers);
  }

  void check_count(std::string_view what, int limit, std::uint64_t needed) {
    if (limit >= 0 && static_cast<std::uint64_t>(limit) >= needed) return;
    add(Grade::problem,
        fmt::format("permits {} {}, but a server of {} clients needs {}", limit, what,
                    demands_.clients, needed),
        "serve with fewer --clients");
  }

  const DeviceFacts& device_;
  const ibv_device_attr& limits_;
  const Demands& demands_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_device(const DeviceFacts& device, const Demands& demands) {
  return DeviceCheck(device, demands).run();
}

}  // namespace falafel::verbs
