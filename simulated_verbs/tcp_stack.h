// The part of a host's kernel that all TCP connections of a process share. Each connection keeps a
// reference, because it may outlive the process to deliver what the program has sent.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "fabric/fabric.h"
#include "simulated_verbs/internet_address.h"
#include "simulated_verbs/subnet.h"

namespace falafel::simulated_verbs {

// The result of a system call as the Linux kernel returns it: an errno is a negative number.
using SystemResult = long;

class TcpStack {
 public:
  // `activity`: of the process, which it may outlive.
  TcpStack(const Subnet& subnet, fabric::Host& host, std::uint16_t lid,
           std::shared_ptr<fabric::Event> activity);

  const Subnet& subnet() const { return subnet_; }
  fabric::Host& host() const { return host_; }
  fabric::Device& device() const { return host_.device(0); }
  fabric::ProtectionDomain& domain() const { return *domain_; }
  std::uint32_t own_address() const { return own_address_; }
  // The LID of the host with that address; 0 if there is none.
  std::uint16_t lid_of(std::uint32_t address) const;

  // Hosts of a run start in any order, whereas users start the server first. So for a minute, a
  // connection that is refused is tried again.
  bool is_starting() const { return host_.now_ns() < starting_until_ns_; }

  // Call after each change that a program may wait for.
  void notify() { activity_->notify_all(); }
  // Waits until the condition holds (true) or until deadline_ns (false).
  bool wait_until(const std::function<bool()>& condition, std::uint64_t deadline_ns);
  // Lets others run, so that a program that asks again and again makes progress.
  void yield() { host_.yield(); }

 private:
  const Subnet& subnet_;
  fabric::Host& host_;
  std::uint32_t own_address_;
  std::uint64_t starting_until_ns_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::shared_ptr<fabric::Event> activity_;
};

}  // namespace falafel::simulated_verbs
