#include "simulated_verbs/connection_manager/connection_manager.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "fabric/time_units.h"
#include "simulated_verbs/descriptor.h"
#include "simulated_verbs/internet_address.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/opened_device.h"
#include "simulated_verbs/process_site.h"
#include "simulated_verbs/sockets.h"
#include "simulated_verbs/subnet.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

constexpr std::uint16_t first_ephemeral_port_of_ids = 32'768;
constexpr std::uint16_t last_ephemeral_port_of_ids = 60'999;
constexpr int released_byte = 0xa5;
constexpr std::uint64_t resolution_ns = fabric::microsecond_ns;
constexpr std::uint64_t resolution_variation_ns = 20 * fabric::microsecond_ns;

class EventChannelDescriptor final : public Descriptor {
 public:
  explicit EventChannelDescriptor(const EventChannel& channel) : channel_(channel) {}
  short ready_events() const override { return channel_.occurrences.empty() ? 0 : POLLIN; }

 private:
  const EventChannel& channel_;
};

// Nothing if it is none of IPv4.
std::optional<Endpoint> read_address(const sockaddr& address) {
  if (address.sa_family != AF_INET) {
    report_not_simulated(fmt::format("rdma_cm: address family {}", address.sa_family));
    return std::nullopt;
  }
  sockaddr_in internet{};
  std::memcpy(&internet, &address, sizeof internet);
  return from_sockaddr(internet);
}

}  // namespace

ConnectionManager::ConnectionManager(ProcessSite& process, VerbsObjects& objects, Sockets& sockets)
    : process_(&process),
      objects_(objects),
      sockets_(sockets),
      activity_of_process_(process.activity()),
      stack_(std::make_shared<TcpStack>(process.subnet(), process.host(), process.lid(),
                                        process.host().create_event())),
      next_port_(first_ephemeral_port_of_ids) {}

void ConnectionManager::end() {
  process_ = nullptr;
  const bool has_crashed = stack_->host().is_cancelled();
  for (const auto& id : identifiers_) {
    if (id->is_released) continue;
    if (!has_crashed) {
      finish_conversation(*id);
    } else if (id->conversation != nullptr) {
      id->conversation->abandon();
    }
  }
  if (listener_ == nullptr) return;
  if (has_crashed) {
    listener_->abandon();
  } else {
    listener_->close();
  }
  stack_->host().cancel(listening_fiber_);
}

void ConnectionManager::start(const char* name, std::function<void()> body) {
  stack_->host().spawn({.name = name, .daemon = true},
                       [self = shared_from_this(), run = std::move(body)] { run(); });
}

ibv_context* ConnectionManager::device() {
  if (device_ == nullptr) {
    Context& opened = open_device(objects_, sockets_);
    device_ = &opened.context;
    domain_ = objects_.protection_domains.add(std::make_unique<ProtectionDomain>(opened));
  }
  return device_;
}

void ConnectionManager::attach_device(Identifier& id) {
  id.verbs = device();
  if (id.pd == nullptr) id.pd = domain_;
  id.port_num = only_port;
}

// -------------------------------------------------------------------------------------------------
// Objects

void ConnectionManager::report_released(std::string_view what) {
  if (process_ == nullptr) return;
  process_->subnet().report(
      released_object_property,
      fmt::format("{}: {} was called with an object that the program had released",
                  process_->host().name(), what));
}

bool ConnectionManager::is_released(const rdma_cm_id* id, std::string_view what) {
  if (!static_cast<const Identifier*>(id)->is_released) return false;
  report_released(what);
  return true;
}

EventChannel& ConnectionManager::add_channel() {
  EventChannel& channel = *channels_.emplace_back(std::make_unique<EventChannel>());
  channel.fd = sockets_.add(std::make_shared<EventChannelDescriptor>(channel));
  return channel;
}

int ConnectionManager::remove_channel(rdma_event_channel* channel) {
  auto& removed = *static_cast<EventChannel*>(channel);
  if (removed.is_released) {
    report_released("rdma_destroy_event_channel");
    return EINVAL;
  }
  sockets_.close(removed.fd);
  removed.is_released = true;
  removed.occurrences.clear();
  return 0;
}

Identifier& ConnectionManager::add_identifier(EventChannel& channel, rdma_port_space space) {
  Identifier& id = *identifiers_.emplace_back(std::make_unique<Identifier>(space));
  id.channel = &channel;
  return id;
}

// A request that the program has not taken is rejected with its listener.
void ConnectionManager::release(Identifier& id) {
  std::vector<Identifier*> requests;
  std::erase_if(id.event_channel().occurrences, [&](const Occurrence& occurrence) {
    const bool is_own = occurrence.reported_for == &id;
    if (is_own && occurrence.subject != &id) requests.push_back(occurrence.subject);
    return is_own;
  });
  std::erase_if(ports_, [&](const auto& entry) { return entry.second == &id; });
  finish_conversation(id);
  id.is_released = true;
  for (Identifier* const request : requests) release(*request);
}

int ConnectionManager::remove(rdma_cm_id* id) {
  if (is_released(id, "rdma_destroy_id")) return EINVAL;
  Identifier& removed = wrapper_of(id);
  release(removed);
  wait_for_acknowledgements(removed);
  std::memset(static_cast<void*>(id), released_byte, sizeof *id);
  return 0;
}

void ConnectionManager::wait_for_acknowledgements(const Identifier& id) {
  while (id.acknowledged_events < id.reported_events) {
    activity_of_process_->wait(fabric::never_ns);
  }
}

int ConnectionManager::migrate(rdma_cm_id* id, EventChannel& channel) {
  if (is_released(id, "rdma_migrate_id")) return EINVAL;
  Identifier& moved = wrapper_of(id);
  auto& before = moved.event_channel().occurrences;
  for (const Occurrence& occurrence : before) {
    if (occurrence.reported_for == &moved) channel.occurrences.push_back(occurrence);
  }
  std::erase_if(before, [&](const Occurrence& each) { return each.reported_for == &moved; });
  moved.channel = &channel;
  notify();
  wait_for_acknowledgements(moved);
  return 0;
}

// -------------------------------------------------------------------------------------------------
// Events

void ConnectionManager::notify() { activity_of_process_->notify_all(); }

void ConnectionManager::raise(const Occurrence& occurrence) {
  EventChannel& channel = occurrence.reported_for->event_channel();
  if (process_ == nullptr || occurrence.reported_for->is_released || channel.is_released) return;
  channel.occurrences.push_back(occurrence);
  notify();
}

void ConnectionManager::raise(Identifier& id, rdma_cm_event_type type, int status) {
  raise({.reported_for = &id, .subject = &id, .type = type, .status = status});
}

ConnectionEvent* ConnectionManager::take_event(rdma_event_channel* channel) {
  auto& opened = *static_cast<EventChannel*>(channel);
  if (opened.is_released) {
    report_released("rdma_get_cm_event");
    return nullptr;
  }
  const auto descriptor = sockets_.find(opened.fd);
  if (opened.occurrences.empty() && descriptor != nullptr && descriptor->is_nonblocking()) {
    process_->wait_for_activity();
    if (opened.occurrences.empty()) return nullptr;
  }
  while (opened.occurrences.empty()) activity_of_process_->wait(fabric::never_ns);
  const Occurrence occurrence = opened.occurrences.front();
  opened.occurrences.pop_front();
  ++occurrence.reported_for->reported_events;
  if (occurrence.type == RDMA_CM_EVENT_ADDR_RESOLVED) attach_device(*occurrence.subject);
  return events_.emplace_back(std::make_unique<ConnectionEvent>(occurrence)).get();
}

int ConnectionManager::acknowledge(rdma_cm_event* event) {
  auto& acknowledged = *static_cast<ConnectionEvent*>(event);
  if (acknowledged.is_released) {
    report_released("rdma_ack_cm_event");
    return EINVAL;
  }
  ++acknowledged.reported_for->acknowledged_events;
  acknowledged.is_released = true;
  acknowledged.private_data.fill(released_byte);
  std::memset(static_cast<void*>(event), released_byte, sizeof *event);
  notify();
  return 0;
}

// -------------------------------------------------------------------------------------------------
// Addresses

int ConnectionManager::take_port(Identifier& id, std::uint16_t port) {
  const auto space = static_cast<std::uint32_t>(id.ps);
  const auto is_free = [&](std::uint16_t wanted, bool shares) {
    const auto [first, last] = ports_.equal_range({space, wanted});
    return std::all_of(first, last, [shares](const auto& entry) {
      return shares && entry.second->may_share_port &&
             entry.second->state != Identifier::State::listening;
    });
  };
  if (port != 0 && !is_free(port, id.may_share_port)) return EADDRINUSE;
  while (port == 0) {
    if (is_free(next_port_, false)) port = next_port_;
    next_port_ = next_port_ == last_ephemeral_port_of_ids
                     ? first_ephemeral_port_of_ids
                     : static_cast<std::uint16_t>(next_port_ + 1);
  }
  ports_.emplace(Port{space, port}, &id);
  id.route.addr.src_sin.sin_port = htons(port);
  return 0;
}

int ConnectionManager::bind_to(Identifier& id, const Endpoint& endpoint) {
  if (id.state != Identifier::State::idle) return EINVAL;
  const bool is_wildcard = endpoint.address == any_address;
  if (!is_wildcard && stack_->lid_of(endpoint.address) != process_->lid()) return ENODEV;
  id.route.addr.src_sin = to_sockaddr({.address = endpoint.address, .port = 0});
  if (const int error = take_port(id, endpoint.port); error != 0) return error;
  if (!is_wildcard) attach_device(id);
  id.state = Identifier::State::bound;
  return 0;
}

int ConnectionManager::bind(rdma_cm_id* id, const sockaddr* address) {
  if (is_released(id, "rdma_bind_addr") || address == nullptr) return EINVAL;
  const std::optional<Endpoint> endpoint = read_address(*address);
  return endpoint ? bind_to(wrapper_of(id), *endpoint) : EAFNOSUPPORT;
}

int ConnectionManager::resolve_address(rdma_cm_id* id, const sockaddr* source,
                                       const sockaddr* destination, int timeout_ms) {
  if (is_released(id, "rdma_resolve_addr") || destination == nullptr) return EINVAL;
  Identifier& resolved = wrapper_of(id);
  const std::optional<Endpoint> remote = read_address(*destination);
  const std::optional<Endpoint> local = source == nullptr ? Endpoint{} : read_address(*source);
  if (!remote || !local) return EAFNOSUPPORT;
  if (resolved.state == Identifier::State::idle) {
    if (const int error = bind_to(resolved, *local); error != 0) return error;
  }
  if (resolved.state != Identifier::State::bound) return EINVAL;
  resolved.state = Identifier::State::resolving_address;
  const bool is_own = remote->address == any_address || is_loopback(remote->address);
  resolved.route.addr.dst_sin =
      to_sockaddr({.address = remote->address == any_address ? loopback_address : remote->address,
                   .port = remote->port});
  const bool is_known = stack_->lid_of(remote->address) != 0;
  const std::uint32_t own_address = is_own ? loopback_address : stack_->own_address();
  const std::uint64_t duration_ns =
      is_known ? resolution_ns + stack_->host().random(resolution_variation_ns)
               : static_cast<std::uint64_t>(std::max(timeout_ms, 0)) * fabric::millisecond_ns;
  start("address resolution", [this, &resolved, is_known, own_address, duration_ns] {
    stack_->host().sleep_until(stack_->host().now_ns() + duration_ns);
    if (resolved.is_released) return;
    sockaddr_in& bound = resolved.route.addr.src_sin;
    if (is_known && bound.sin_addr.s_addr == 0) bound.sin_addr.s_addr = htonl(own_address);
    resolved.state = is_known ? Identifier::State::address_resolved : Identifier::State::bound;
    raise(resolved, is_known ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR,
          is_known ? 0 : -ETIMEDOUT);
  });
  return 0;
}

int ConnectionManager::resolve_route(rdma_cm_id* id) {
  if (is_released(id, "rdma_resolve_route")) return EINVAL;
  Identifier& resolved = wrapper_of(id);
  if (resolved.state != Identifier::State::address_resolved) return EINVAL;
  resolved.state = Identifier::State::resolving_route;
  const std::uint64_t duration_ns = resolution_ns + stack_->host().random(resolution_variation_ns);
  start("route resolution", [this, &resolved, duration_ns] {
    stack_->host().sleep_until(stack_->host().now_ns() + duration_ns);
    if (resolved.is_released) return;
    resolved.state = Identifier::State::route_resolved;
    raise(resolved, RDMA_CM_EVENT_ROUTE_RESOLVED);
  });
  return 0;
}

int ConnectionManager::set_option(rdma_cm_id* id, int level, int name, const void* value,
                                  std::size_t length_bytes) {
  if (is_released(id, "rdma_set_option")) return EINVAL;
  Identifier& changed = wrapper_of(id);
  if (level == RDMA_OPTION_ID) {
    const bool is_byte = name == RDMA_OPTION_ID_TOS || name == RDMA_OPTION_ID_ACK_TIMEOUT;
    if (length_bytes != (is_byte ? sizeof(std::uint8_t) : sizeof(int))) return EINVAL;
    switch (name) {
      case RDMA_OPTION_ID_TOS:
      case RDMA_OPTION_ID_AFONLY: return 0;
      case RDMA_OPTION_ID_REUSEADDR: {
        int may_share = 0;
        std::memcpy(&may_share, value, sizeof may_share);
        changed.may_share_port = may_share != 0;
        return 0;
      }
      case RDMA_OPTION_ID_ACK_TIMEOUT: {
        constexpr std::uint8_t timeout_bits = 0x1f;
        const std::uint8_t timeout = *static_cast<const std::uint8_t*>(value);
        changed.acknowledge_timeout = static_cast<std::uint8_t>(timeout & timeout_bits);
        return 0;
      }
      default: break;
    }
  }
  report_not_simulated(fmt::format("rdma_set_option(level {}, option {})", level, name));
  return ENOSYS;
}

}  // namespace falafel::simulated_verbs
