// The device of a process, and its opened contexts.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>

#include "simulated_verbs/object_of_program.h"

namespace falafel::simulated_verbs {

class ProcessSite;

// The only device of its host, with one port.
struct Device : ibv_device {
  explicit Device(ProcessSite& owner);

  ProcessSite& process;
};

// An extended context, as of devices that know the extended functions. Programs see its `context`.
// open_device (opened_device.h) makes one.
struct Context : verbs_context, ObjectOfProgram {
  explicit Context(Device& opened);
  ~Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  ProcessSite& process;
  std::deque<ibv_async_event> async_events;  // found (async_events.h), and not taken yet
};

inline Context& wrapper_of(ibv_context* context) {
  return *static_cast<Context*>(verbs_get_ctx(context));
}

inline constexpr std::uint8_t only_port = 1;

// The GID of the port of that LID, and its inverse: 0 if it is no GID of this subnet.
ibv_gid gid_of(std::uint16_t lid);
std::uint16_t lid_of(const ibv_gid& gid);
// The LID that an address vector leads to, or 0.
std::uint16_t destination_of(const ibv_ah_attr& address);

// The largest MTU that the device can send.
ibv_mtu active_mtu(const ProcessSite& process);

}  // namespace falafel::simulated_verbs
