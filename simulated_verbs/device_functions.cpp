// The functions of libibverbs that list, open, close and query devices.
#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/context.h"
#include "simulated_verbs/errors.h"
#include "simulated_verbs/extended_functions.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/object_of_program.h"
#include "simulated_verbs/opened_device.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/sockets.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

constexpr std::uint16_t default_pkey = 0xffff;
// As of Soft-RoCE. Programs take 0 for a device that does not answer.
constexpr std::uint32_t no_vendor = 0xff'ffff;
constexpr std::uint8_t link_is_up = 5;
constexpr std::uint8_t four_lanes = 2;
constexpr std::uint8_t speed_of_edr = 32;
constexpr std::uint64_t kilohertz_of_nanoseconds = 1'000'000;
constexpr int practically_unlimited = 1 << 20;

// The result of ibv_get_device_list: an array that ends with null.
struct DeviceList : ObjectOfProgram {
  explicit DeviceList(ibv_device* only) : devices{only, nullptr} {}
  std::array<ibv_device*, 2> devices;
};

std::uint64_t guid_of(const ProcessSite& process) { return 0x0002'c903'0000'0000U + process.lid(); }

void fill_attributes(const ProcessSite& process, ibv_device_attr& attributes) {
  const fabric::DeviceAttributes& device = process.host().device(0).attributes();
  attributes = {};
  std::strncpy(attributes.fw_ver, "simulated", sizeof attributes.fw_ver - 1);
  attributes.node_guid = htobe64(guid_of(process));
  attributes.sys_image_guid = attributes.node_guid;
  attributes.vendor_id = no_vendor;
  attributes.max_mr_size = ~std::uint64_t{0};
  attributes.page_size_cap = 4096;
  attributes.max_qp = attributes.max_cq = attributes.max_mr = attributes.max_pd =
      attributes.max_ah = practically_unlimited;
  attributes.max_qp_wr = static_cast<int>(device.max_queue_requests);
  attributes.max_sge = attributes.max_sge_rd = attributes.max_srq_sge =
      static_cast<int>(device.max_scatter_gather_entries);
  attributes.max_cqe = static_cast<int>(device.max_completions);
  attributes.max_qp_rd_atom = attributes.max_qp_init_rd_atom = attributes.max_res_rd_atom =
      static_cast<int>(device.max_outstanding_reads_and_atomics);
  switch (device.atomic_capability) {
    case fabric::AtomicCapability::none: attributes.atomic_cap = IBV_ATOMIC_NONE; break;
    case fabric::AtomicCapability::device: attributes.atomic_cap = IBV_ATOMIC_HCA; break;
    case fabric::AtomicCapability::global: attributes.atomic_cap = IBV_ATOMIC_GLOB; break;
  }
  attributes.max_srq = static_cast<int>(device.max_shared_receive_queues);
  attributes.max_srq_wr = static_cast<int>(device.max_queue_requests);
  attributes.device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  attributes.max_mw = practically_unlimited;
  attributes.max_pkeys = 1;
  attributes.phys_port_cnt = only_port;
}

ibv_odp_caps paging_of(const ProcessSite& process) {
  const sim::OnDemandPaging paging = sim::on_demand_paging_of(process.host());
  ibv_odp_caps capabilities{};
  if (paging == sim::OnDemandPaging::none) return capabilities;
  std::uint32_t uses = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
                       IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_SRQ_RECV;
  if (paging == sim::OnDemandPaging::all) uses |= IBV_ODP_SUPPORT_ATOMIC;
  capabilities.general_caps = IBV_ODP_SUPPORT;
  capabilities.per_transport_caps.rc_odp_caps = uses;
  return capabilities;
}

}  // namespace

// There is nothing beyond the attributes of each device but the number of ports, on-demand paging,
// and the clock of completions, which counts nanoseconds.
int query_extended_attributes(ibv_context* context, const ibv_query_device_ex_input* input,
                              ibv_device_attr_ex* attributes, std::size_t bytes) {
  if (input != nullptr && input->comp_mask != 0) return EINVAL;
  ibv_device_attr_ex found{};
  fill_attributes(wrapper_of(context).process, found.orig_attr);
  found.phys_port_cnt_ex = found.orig_attr.phys_port_cnt;
  found.odp_caps = paging_of(wrapper_of(context).process);
  found.completion_timestamp_mask = ~std::uint64_t{0};
  found.hca_core_clock = kilohertz_of_nanoseconds;
  std::memcpy(attributes, &found, std::min(bytes, sizeof found));
  return 0;
}

}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

#undef ibv_get_device_list
ibv_device** ibv_get_device_list(int* num_devices) {
  const LibraryCall call("ibv_get_device_list");
  if (num_devices != nullptr) *num_devices = 1;
  return (new DeviceList(&call.process().verbs().device))->devices.data();
}

void ibv_free_device_list(ibv_device** list) { delete reinterpret_cast<DeviceList*>(list); }

const char* ibv_get_device_name(ibv_device* device) { return device->name; }

int ibv_get_device_index(ibv_device* /*device*/) { return 0; }

__be64 ibv_get_device_guid(ibv_device* device) {
  return htobe64(guid_of(static_cast<Device*>(device)->process));
}

ibv_context* ibv_open_device(ibv_device* device) {
  const LibraryCall call("ibv_open_device");
  if (device == nullptr) return fail_with(EINVAL);
  return &open_device(call.process().verbs(), call.process().sockets()).context;
}

int ibv_close_device(ibv_context* context) {
  const LibraryCall call("ibv_close_device");
  close_device(wrapper_of(context), call.process().verbs(), call.process().sockets());
  return 0;
}

int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  fill_attributes(wrapper_of(context).process, *attributes);
  return 0;
}

#undef ibv_query_port
// The header's inline function has cleared what this struct lacks of ibv_port_attr.
int ibv_query_port(ibv_context* context, std::uint8_t port_num,
                   _compat_ibv_port_attr* compatible_attributes) {
  if (port_num != only_port) return EINVAL;
  const ProcessSite& process = wrapper_of(context).process;
  auto& attributes = *reinterpret_cast<ibv_port_attr*>(compatible_attributes);
  attributes.state = IBV_PORT_ACTIVE;
  attributes.max_mtu = attributes.active_mtu = active_mtu(process);
  attributes.gid_tbl_len = 1;
  attributes.max_msg_sz = process.host().device(0).attributes().max_message_bytes;
  attributes.pkey_tbl_len = 1;
  attributes.lid = process.lid();
  attributes.sm_lid = 1;
  attributes.max_vl_num = 1;
  attributes.active_width = four_lanes;
  attributes.active_speed = speed_of_edr;
  attributes.phys_state = link_is_up;
  attributes.link_layer = IBV_LINK_LAYER_INFINIBAND;
  return 0;
}

int ibv_query_gid(ibv_context* context, std::uint8_t port_num, int index, ibv_gid* gid) {
  if (port_num != only_port || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *gid = gid_of(wrapper_of(context).process.lid());
  return 0;
}

int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port_num, std::uint32_t gid_index,
                      ibv_gid_entry* entry, std::uint32_t flags, std::size_t entry_size) {
  if (port_num != only_port || gid_index != 0 || flags != 0) return EINVAL;
  ibv_gid_entry found{};
  found.gid = gid_of(wrapper_of(context).process.lid());
  found.port_num = only_port;
  found.gid_type = IBV_GID_TYPE_IB;
  std::memcpy(entry, &found, std::min(entry_size, sizeof found));
  return 0;
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t max_entries,
                             std::uint32_t flags, std::size_t entry_size) {
  if (max_entries == 0) return -EINVAL;
  const int error = _ibv_query_gid_ex(context, only_port, 0, entries, flags, entry_size);
  return error == 0 ? 1 : -error;
}

int ibv_query_pkey(ibv_context* /*context*/, std::uint8_t port_num, int index, __be16* pkey) {
  if (port_num != only_port || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *pkey = htons(default_pkey);
  return 0;
}

int ibv_get_pkey_index(ibv_context* /*context*/, std::uint8_t port_num, __be16 pkey) {
  if (port_num == only_port && pkey == htons(default_pkey)) return 0;
  errno = ENOENT;
  return -1;
}

int ibv_fork_init() { return 0; }

ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }
}
