#include "fabric/verbs/port_selection.h"

#include <endian.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

constexpr std::uint8_t largest_service_level = 15;
constexpr std::size_t gid_prefix_bytes = 12;
constexpr std::array<std::uint8_t, gid_prefix_bytes> mapped_ipv4_prefix{0, 0, 0, 0, 0,    0,
                                                                        0, 0, 0, 0, 0xff, 0xff};

// Soft-RoCE takes 7 retries for "without end", which InfiniBand does for the receiver's readiness
// only.
constexpr std::uint32_t soft_roce_vendor = 0xff'ffff;
constexpr std::uint32_t soft_roce_most_retries = 6;

struct DeviceList {
  DeviceList() : devices(ibv_get_device_list(&count)) {}
  ~DeviceList() {
    if (devices != nullptr) ibv_free_device_list(devices);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  std::string names() const {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : ", ", ibv_get_device_name(devices[i]));
    }
    return text;
  }

  int count = 0;
  ibv_device** devices;
};

// An active port that the options allow.
struct Candidate {
  std::string name() const {
    return fmt::format("{} port {}", ibv_get_device_name(context->device), port);
  }
  bool is_ethernet() const { return attributes.link_layer == IBV_LINK_LAYER_ETHERNET; }

  ContextHandle context;
  std::uint8_t port = 0;
  ibv_port_attr attributes{};
  bool is_soft_roce = false;
};

// The highest bit says whether the port is a full member of the partition.
constexpr std::uint16_t partition_bits = 0x7fff;

Result<std::uint16_t> find_partition(ibv_context* context, std::uint8_t port,
                                     const ibv_port_attr& attributes, std::uint16_t key) {
  std::string known;
  for (std::uint16_t index = 0; index < attributes.pkey_tbl_len; ++index) {
    __be16 entry = 0;
    if (ibv_query_pkey(context, port, index, &entry) != 0 || entry == 0) continue;
    const std::uint16_t found = be16toh(entry);
    if ((found & partition_bits) == (key & partition_bits)) return index;
    known += fmt::format("{}{:#06x}", known.empty() ? "" : ", ", found);
  }
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{} port {} is in no partition {:#06x}, only in {}; choose one of "
                                "them, or let the subnet manager add the port",
                                ibv_get_device_name(context->device), port, key, known));
}

// Addresses that hold on one link only.
bool is_link_local(const ibv_gid& gid) {
  return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0U) == 0x80;
}

// How well a GID fits if none is that of the host's own address; 0: best.
int rank_of(const ibv_gid& gid) {
  if (std::equal(mapped_ipv4_prefix.begin(), mapped_ipv4_prefix.end(), gid.raw)) return 0;
  return is_link_local(gid) ? 2 : 1;
}

struct IndexedGid {
  std::uint8_t index = 0;
  ibv_gid gid{};
};

std::vector<IndexedGid> gids_of(const Candidate& candidate) {
  std::vector<IndexedGid> gids;
  const int end = std::min(candidate.attributes.gid_tbl_len, 256);
  for (int index = 0; index < end; ++index) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(candidate.context.get(), candidate.port, static_cast<std::uint32_t>(index),
                         &entry, 0) != 0) {
      continue;
    }
    if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    gids.push_back({.index = static_cast<std::uint8_t>(index), .gid = entry.gid});
  }
  return gids;
}

bool has_at(const Candidate& candidate, std::uint8_t index, const Gid& gid) {
  ibv_gid_entry entry{};
  return ibv_query_gid_ex(candidate.context.get(), candidate.port, index, &entry, 0) == 0 &&
         entry.gid_type == IBV_GID_TYPE_ROCE_V2 && std::ranges::equal(entry.gid.raw, gid);
}

bool has_address(const Candidate& candidate, const Gid& address) {
  return std::ranges::any_of(gids_of(candidate), [&](const IndexedGid& own) {
    return std::ranges::equal(own.gid.raw, address);
  });
}

// 0 for ports of InfiniBand that have a LID only.
Result<std::uint8_t> select_gid(const Candidate& candidate, const Gid& address) {
  std::optional<std::uint8_t> best;
  int best_rank = 0;
  for (const IndexedGid& own : gids_of(candidate)) {
    if (std::ranges::equal(own.gid.raw, address)) return own.index;
    const int rank = rank_of(own.gid);
    if (!best || rank < best_rank) {
      best = own.index;
      best_rank = rank;
    }
  }
  if (best) return *best;
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("{} has no RoCE v2 GID; give its network interface an address, or choose "
                  "a GID index (`ibv_devinfo -v` lists them)",
                  candidate.name()));
}

Result<PortIdentity> identify(const Candidate& candidate, const DeviceOptions& options,
                              const Gid& address) {
  ibv_context* const context = candidate.context.get();
  const ibv_port_attr& attributes = candidate.attributes;
  const std::uint8_t port = candidate.port;
  PortIdentity identity;
  identity.port = port;
  identity.is_ethernet = candidate.is_ethernet();
  identity.local_identifier = attributes.lid;
  identity.mtu_bytes = 128U << static_cast<unsigned>(attributes.active_mtu);
  identity.max_message_bytes = attributes.max_msg_sz;
  identity.traffic_class = options.traffic_class;
  identity.service_level = options.service_level;
  if (options.service_level > largest_service_level) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("service_level: {} is over 15", options.service_level));
  }
  if (options.partition_key) {
    const auto found = find_partition(context, port, attributes, *options.partition_key);
    if (!found) return tl::unexpected(found.error());
    identity.partition_index = *found;
  }
  if (options.gid_index) {
    identity.gid_index = *options.gid_index;
  } else if (identity.is_ethernet) {
    const auto selected = select_gid(candidate, address);
    if (!selected) return tl::unexpected(selected.error());
    identity.gid_index = *selected;
  }
  ibv_gid gid{};
  const int failed = ibv_query_gid(context, port, identity.gid_index, &gid);
  std::ranges::copy(gid.raw, identity.gid.begin());
  if (failed != 0 || identity.gid == Gid{}) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} has no GID of index {}; `ibv_devinfo -v` lists them",
                                  candidate.name(), identity.gid_index));
  }
  identity.is_soft_roce = candidate.is_soft_roce;
  if (candidate.is_soft_roce) identity.most_retries = soft_roce_most_retries;
  return identity;
}

// The active ports of a device.
Result<std::vector<Candidate>> open_device(ibv_device* device, const DeviceOptions& options) {
  const std::string name = ibv_get_device_name(device);
  ibv_context* const raw = ibv_open_device(device);
  if (raw == nullptr) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("device {} cannot be opened: {}; its user needs the right to use "
                                  "/dev/infiniband/uverbs*",
                                  name, words_of(errno)));
  }
  const ContextHandle context = own(raw);
  ibv_device_attr attributes{};
  const int failed = ibv_query_device(raw, &attributes);
  const std::uint8_t last = failed == 0 ? attributes.phys_port_cnt : 0;
  if (options.port > last) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("device {} has no port {}, only {}", name, options.port, last));
  }
  std::vector<Candidate> candidates;
  for (unsigned port = 1; port <= last; ++port) {
    if (options.port != 0 && options.port != port) continue;
    Candidate candidate{.context = context,
                        .port = static_cast<std::uint8_t>(port),
                        .is_soft_roce = attributes.vendor_id == soft_roce_vendor};
    if (ibv_query_port(raw, candidate.port, &candidate.attributes) == 0 &&
        candidate.attributes.state == IBV_PORT_ACTIVE) {
      candidates.push_back(std::move(candidate));
    }
  }
  if (!candidates.empty()) return candidates;
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("device {} has no active port{}; `ibv_devinfo` and `rdma link` tell "
                  "their state: check the cable and that the interface is up",
                  name, options.port == 0 ? "" : fmt::format(" {}", options.port)));
}

std::string describe_addresses(const Candidate& candidate) {
  std::string text;
  for (const IndexedGid& own : gids_of(candidate)) {
    if (is_link_local(own.gid)) continue;
    Gid gid{};
    std::ranges::copy(own.gid.raw, gid.begin());
    text += fmt::format("{}{}", text.empty() ? "" : " ", to_string(gid));
  }
  return fmt::format("{} ({})", candidate.name(), text.empty() ? "no address" : text);
}

// The port with the host's own address. If none has it, the address belongs to another interface,
// and only a single port is certainly the right one, unless the address was given to choose. Ports
// of InfiniBand have no IP addresses among their GIDs, so the first one is taken; a GID index or an
// unknown address decides nothing either.
Result<std::size_t> choose(const std::vector<Candidate>& candidates, const DeviceOptions& options,
                           const Gid& address) {
  for (std::size_t number = 0; number < candidates.size(); ++number) {
    if (has_address(candidates[number], address)) return number;
  }
  const bool has_ethernet = std::ranges::any_of(
      candidates, [](const Candidate& candidate) { return candidate.is_ethernet(); });
  const bool must_have_address = options.name.empty() && !options.own_address.empty();
  const bool is_certain = candidates.size() == 1 && !must_have_address;
  if (is_certain || !has_ethernet || options.gid_index || address == Gid{}) return 0;
  std::string ports;
  for (const Candidate& candidate : candidates) {
    ports += (ports.empty() ? "" : ", ") + describe_addresses(candidate);
  }
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("the own address {} belongs to none of the RDMA ports {}; use the "
                                "address of one of them, or name the device and the port",
                                to_string(address), ports));
}

}  // namespace

Result<OpenedPort> open_port(const DeviceOptions& options, const Gid& address) {
  const DeviceList list;
  if (list.count == 0) {
    return make_error(ErrorCode::invalid_argument,
                      "there is no RDMA device; load the driver of the network card, or Soft-RoCE: "
                      "`modprobe rdma_rxe` and `rdma link add rxe0 type rxe netdev INTERFACE`");
  }
  fabric::Error last_error{
      .code = ErrorCode::invalid_argument,
      .detail = fmt::format("there is no RDMA device '{}', only: {}", options.name, list.names())};
  std::vector<Candidate> candidates;
  for (int i = 0; i < list.count; ++i) {
    if (!options.name.empty() && options.name != ibv_get_device_name(list.devices[i])) continue;
    auto opened = open_device(list.devices[i], options);
    if (opened) {
      std::ranges::move(*opened, std::back_inserter(candidates));
    } else {
      last_error = opened.error();
    }
  }
  if (candidates.empty()) return tl::unexpected(std::move(last_error));
  const auto chosen = choose(candidates, options, address);
  if (!chosen) return tl::unexpected(chosen.error());
  const Candidate& candidate = candidates[*chosen];
  const auto identity = identify(candidate, options, address);
  if (!identity) return tl::unexpected(identity.error());
  return OpenedPort{
      .context = candidate.context, .identity = *identity, .options = options, .address = address};
}

// A port that had the host's own address must have it again: another address of it would not be the
// one at which the peer knows this host. Most of the time, the address is where it was.
Result<PortIdentity> identify_again(const OpenedPort& port) {
  const PortIdentity& known = port.identity;
  Candidate candidate{
      .context = port.context, .port = known.port, .is_soft_roce = known.is_soft_roce};
  const auto lacks = [&](std::string_view what) {
    return make_error(ErrorCode::unreachable, fmt::format("{} {}", candidate.name(), what));
  };
  if (ibv_query_port(port.context.get(), known.port, &candidate.attributes) != 0 ||
      candidate.attributes.state != IBV_PORT_ACTIVE) {
    return lacks("is not active; check the cable and that the interface is up");
  }
  const bool is_own_address =
      known.is_ethernet && !port.options.gid_index && known.gid == port.address;
  if (is_own_address) {
    if (has_at(candidate, known.gid_index, known.gid)) return known;
    if (!has_address(candidate, port.address)) {
      return lacks(fmt::format("has lost the address {}; give it back to the network interface",
                               to_string(port.address)));
    }
  }
  auto identity = identify(candidate, port.options, port.address);
  if (!identity) return make_error(ErrorCode::unreachable, identity.error().detail);
  return identity;
}

std::optional<std::uint32_t> numa_node_of(const ibv_context& context) {
  std::ifstream file(fmt::format("{}/device/numa_node", context.device->ibdev_path));
  int node = -1;
  if (!(file >> node) || node < 0) return std::nullopt;
  return static_cast<std::uint32_t>(node);
}

}  // namespace falafel::verbs
