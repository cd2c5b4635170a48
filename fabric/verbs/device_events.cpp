#include "fabric/verbs/device_events.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "fabric/verbs/network.h"

namespace falafel::verbs {
namespace {

// Returns whether `ibv_async_event::element` is a port's number.
bool concerns_port(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER: return true;
    default: return false;
  }
}

std::string_view advice(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_DEVICE_FATAL:
      return "; its connections are lost. Restart this program, and check `dmesg`";
    case IBV_EVENT_PORT_ERR:
      return "; requests fail until it is back. Check the cable, the switch and `ip link`";
    case IBV_EVENT_PORT_ACTIVE: return "; it can be used again";
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_GID_CHANGE:
      return "; connections to the old address may break, and clients then connect again";
    case IBV_EVENT_PKEY_CHANGE:
      return "; connections break if their partition has gone. Check the subnet manager";
    default: return "";
  }
}

}  // namespace

std::optional<std::string> describe_event(const std::string& device, ibv_event_type type,
                                          int port) {
  const bool is_of_port = concerns_port(type);
  if (!is_of_port && type != IBV_EVENT_DEVICE_FATAL) return std::nullopt;
  return fmt::format("device {}{}: {}{}", device, is_of_port ? fmt::format(" port {}", port) : "",
                     ibv_event_type_str(type), advice(type));
}

DeviceEvents::DeviceEvents(Network& network, ContextHandle context)
    : network_(network), context_(std::move(context)), descriptor_(network.reactor()) {
  // Asio closes its descriptor, so it gets a duplicate. The two share the mode of not blocking.
  descriptor_.assign(::fcntl(context_->async_fd, F_DUPFD_CLOEXEC, 0));
  descriptor_.native_non_blocking(true);
  await();
}

void DeviceEvents::await() {
  descriptor_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                         [this](const boost::system::error_code& error) {
                           if (error) return;
                           ibv_async_event event{};
                           while (ibv_get_async_event(context_.get(), &event) == 0) {
                             report(event);
                             if (event.event_type == IBV_EVENT_PORT_ERR)
                               network_.on_port_error(*context_, event.element.port_num);
                             ibv_ack_async_event(&event);
                           }
                           await();
                         });
}

void DeviceEvents::report(const ibv_async_event& event) const {
  const auto text = describe_event(ibv_get_device_name(context_->device), event.event_type,
                                   concerns_port(event.event_type) ? event.element.port_num : 0);
  if (text) network_.report_failure(*text);
}

}  // namespace falafel::verbs
