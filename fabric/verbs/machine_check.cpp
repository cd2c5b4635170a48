#include "fabric/verbs/machine_check.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <fstream>
#include <optional>

#include "fabric/verbs/detection.h"
#include "fabric/verbs/options.h"
#include "fabric/verbs/port_selection.h"
#include "fabric/verbs/resources.h"

namespace falafel::verbs {
namespace {

constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20U;

class MachineCheck {
 public:
  explicit MachineCheck(const Demands& demands) : demands_(demands) {}

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
    ibv_device_attr_ex extended{};
    const int failed = ibv_query_device_ex(raw, nullptr, &extended);
    if (failed != 0) return add(Grade::problem, subject, words_of(failed), "check `dmesg`");
    const ibv_device_attr& attributes = extended.orig_attr;
    const auto findings =
        falafel::verbs::check_device({.name = ibv_get_device_name(device),
                                      .transport = device->transport_type,
                                      .attributes = attributes,
                                      .paging = extended.odp_caps,
                                      .queue_pair_error = error_of_creating_queue_pair(context)},
                                     demands_);
    findings_.insert(findings_.end(), findings.begin(), findings.end());
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

  static std::optional<int> error_of_creating_queue_pair(const ContextHandle& context) {
    ibv_pd* const raw = ibv_alloc_pd(context.get());
    if (raw == nullptr) return errno;
    const DomainHandle domain = own(raw, context);
    ibv_cq* const queue = ibv_create_cq(context.get(), 2, nullptr, nullptr, 0);
    if (queue == nullptr) return errno;
    ibv_qp_init_attr options{};
    options.send_cq = queue;
    options.recv_cq = queue;
    options.cap = {.max_send_wr = 1,
                   .max_recv_wr = 1,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = 0};
    options.qp_type = IBV_QPT_RC;
    ibv_qp* const queue_pair = ibv_create_qp(domain.get(), &options);
    const std::optional<int> error = queue_pair == nullptr ? std::optional(errno) : std::nullopt;
    if (queue_pair != nullptr) ibv_destroy_qp(queue_pair);
    ibv_destroy_cq(queue);
    return error;
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
    add(Grade::good, subject,
        fmt::format("sends messages of at most {} bytes; a key with its value must fit into one",
                    attributes.max_msg_sz));
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
    const bool too_little = limit.rlim_cur < demands_.memory_bytes;
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
    const std::uint64_t needed = (demands_.memory_bytes + huge_page_bytes - 1) / huge_page_bytes;
    const bool enough = free > 0 && free >= needed;
    add(enough ? Grade::good : Grade::advice, "huge pages",
        fmt::format("{} of 2 MiB are free{}", free,
                    needed == 0 ? "" : fmt::format("; {} are needed", needed)),
        enough ? ""
               : fmt::format("`sysctl vm.nr_hugepages={}`, early after booting",
                             needed == 0 ? "N" : std::to_string(needed)));
  }

  const Demands& demands_;
  std::vector<Finding> findings_;
};

void add_active_ports(ibv_device* device, std::vector<DeviceOptions>& ports) {
  ibv_context* const raw = ibv_open_device(device);
  if (raw == nullptr) return;
  const ContextHandle context = own(raw);
  ibv_device_attr attributes{};
  if (ibv_query_device(raw, &attributes) != 0) return;
  for (std::uint8_t port = 1; port <= attributes.phys_port_cnt; ++port) {
    ibv_port_attr state{};
    if (ibv_query_port(raw, port, &state) != 0 || state.state != IBV_PORT_ACTIVE) continue;
    ports.push_back({.name = ibv_get_device_name(device), .port = port, .gid_index = {}});
  }
}

std::vector<DeviceOptions> active_ports() {
  std::vector<DeviceOptions> ports;
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  for (int i = 0; i < count; ++i) add_active_ports(list[i], ports);
  if (list != nullptr) ibv_free_device_list(list);
  return ports;
}

}  // namespace

std::vector<Finding> check_machine(const Demands& demands) { return MachineCheck(demands).run(); }

std::vector<Finding> check_detection(std::uint64_t bound_ns) {
  constexpr std::uint64_t patience_bounds = 8;
  std::vector<Finding> findings;
  for (const DeviceOptions& port : active_ports()) {
    const auto measured = measure_detection(port, patience_bounds * bound_ns);
    findings.push_back(judge_detection(fmt::format("device {} port {}", port.name, port.port),
                                       measured, bound_ns));
  }
  return findings;
}

}  // namespace falafel::verbs
