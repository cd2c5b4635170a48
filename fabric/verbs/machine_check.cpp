#include "fabric/verbs/machine_check.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <fstream>

#include "fabric/verbs/port_selection.h"
#include "fabric/verbs/resources.h"

namespace falafel::verbs {
namespace {

constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20U;

class MachineCheck {
 public:
  explicit MachineCheck(std::uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  std::vector<Finding> run() {
    check_devices();
    check_memory_lock_limit();
    check_huge_pages();
    return std::move(findings_);
  }

 private:
  void add(Grade grade, std::string subject, std::string fact, std::string remedy = {}) {
    findings_.push_back({.grade = grade,
                         .subject = std::move(subject),
                         .fact = std::move(fact),
                         .remedy = std::move(remedy)});
  }

  void check_devices() {
    int count = 0;
    ibv_device** const list = ibv_get_device_list(&count);
    if (count == 0) {
      add(Grade::problem, "devices", "no RDMA device",
          "load the driver of the network card, or Soft-RoCE: `modprobe rdma_rxe`, `rdma link add "
          "rxe0 type rxe netdev INTERFACE`");
    }
    for (int i = 0; i < count; ++i) check_device(list[i]);
    if (list != nullptr) ibv_free_device_list(list);
  }

  void check_device(ibv_device* device) {
    const std::string subject = fmt::format("device {}", ibv_get_device_name(device));
    ibv_context* const raw = ibv_open_device(device);
    if (raw == nullptr) {
      return add(Grade::problem, subject, fmt::format("cannot be opened: {}", words_of(errno)),
                 "give this user the right to use /dev/infiniband/uverbs*");
    }
    const ContextHandle context = own(raw);
    ibv_device_attr attributes{};
    const int failed = ibv_query_device(raw, &attributes);
    if (failed != 0) return add(Grade::problem, subject, words_of(failed), "check `dmesg`");
    check_atomics(subject, attributes);
    const auto node = numa_node_of(*context);
    add(Grade::good, subject,
        node ? fmt::format("is at NUMA node {}; run the server there: `numactl --cpunodebind={} "
                           "--membind={}`",
                           *node, *node, *node)
             : "is at no certain NUMA node");
    for (std::uint8_t port = 1; port <= attributes.phys_port_cnt; ++port) {
      check_port(fmt::format("{} port {}", subject, port), context.get(), port);
    }
  }

  void check_atomics(const std::string& subject, const ibv_device_attr& attributes) {
    if (attributes.atomic_cap == IBV_ATOMIC_NONE) {
      return add(Grade::problem, subject, "has no atomics",
                 "use another device: the store needs CAS");
    }
    const bool global = attributes.atomic_cap == IBV_ATOMIC_GLOB;
    add(Grade::good, subject,
        fmt::format("has atomics (against {}); {} READs and atomics outstanding",
                    global ? "processors too" : "the same device", attributes.max_qp_init_rd_atom));
  }

  void check_port(const std::string& subject, ibv_context* context, std::uint8_t port) {
    ibv_port_attr attributes{};
    if (ibv_query_port(context, port, &attributes) != 0 || attributes.state != IBV_PORT_ACTIVE) {
      const bool is_ethernet = attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
      return add(Grade::problem, subject, "is not active",
                 is_ethernet ? "check the cable; `ip link set INTERFACE up`"
                             : "check the cable, and that a subnet manager runs (opensm)");
    }
    check_mtu(subject, attributes);
    const DeviceOptions options{
        .name = ibv_get_device_name(context->device), .port = port, .gid_index = {}};
    const auto opened = open_port(options, {});
    if (!opened) return add(Grade::problem, subject, opened.error().detail, "see there");
    add(Grade::good, subject,
        fmt::format("is active; GID index {} is {}", opened->identity.gid_index,
                    to_string(opened->identity.gid)));
  }

  void check_mtu(const std::string& subject, const ibv_port_attr& attributes) {
    const auto to_bytes = [](ibv_mtu code) { return 128U << static_cast<unsigned>(code); };
    const std::string fact =
        fmt::format("has an MTU of {} bytes of {} possible", to_bytes(attributes.active_mtu),
                    to_bytes(attributes.max_mtu));
    if (attributes.active_mtu == attributes.max_mtu) return add(Grade::good, subject, fact);
    add(Grade::advice, subject, fact,
        "on Ethernet, `ip link set INTERFACE mtu 4200` on all machines and switches; on "
        "InfiniBand, "
        "the subnet manager's partition");
  }

  void check_memory_lock_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur == RLIM_INFINITY) {
      return add(Grade::good, "locked memory", "is without limit");
    }
    const bool too_little = limit.rlim_cur < memory_bytes_;
    add(too_little ? Grade::problem : Grade::advice, "locked memory",
        fmt::format(
            "is limited to {} KiB; every registration counts anew, so a server needs its memory "
            "once for each client",
            limit.rlim_cur / 1024),
        "`ulimit -l unlimited`, memlock in /etc/security/limits.conf, or LimitMEMLOCK of the "
        "systemd "
        "unit");
  }

  void check_huge_pages() {
    std::ifstream file("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
    std::uint64_t free = 0;
    file >> free;
    const std::uint64_t needed = (memory_bytes_ + huge_page_bytes - 1) / huge_page_bytes;
    const bool enough = free > 0 && free >= needed;
    add(enough ? Grade::good : Grade::advice, "huge pages",
        fmt::format("{} of 2 MiB are free{}", free,
                    needed == 0 ? "" : fmt::format("; {} are needed", needed)),
        enough ? ""
               : fmt::format("`sysctl vm.nr_hugepages={}`, early after booting",
                             needed == 0 ? "N" : std::to_string(needed)));
  }

  std::uint64_t memory_bytes_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_machine(std::uint64_t memory_bytes) {
  return MachineCheck(memory_bytes).run();
}

}  // namespace falafel::verbs
