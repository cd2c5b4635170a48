// Asynchronous events of a device: a port goes down, the device fails.
#pragma once

#include <infiniband/verbs.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <optional>
#include <string>

#include "fabric/verbs/resources.h"

namespace falafel::verbs {

class Network;

// Describes the event and the remedy, for the administrator. Returns nullopt for events that
// concern a single queue: the error of a request reports these.
std::optional<std::string> describe_event(const std::string& device, ibv_event_type type, int port);

// Reports the events of a device to the network's report_failure while the network's reactor runs,
// and tells the network when a port goes down. The kernel keeps events until somebody takes them,
// so every device needs this.
class DeviceEvents {
 public:
  DeviceEvents(Network& network, ContextHandle context);
  DeviceEvents(const DeviceEvents&) = delete;
  DeviceEvents& operator=(const DeviceEvents&) = delete;

 private:
  void await();
  void report(const ibv_async_event& event) const;

  Network& network_;
  ContextHandle context_;
  boost::asio::posix::stream_descriptor descriptor_;
};

}  // namespace falafel::verbs
