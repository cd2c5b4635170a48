// The options of a host: its name, where it listens, and how it waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fabric/fabric.h"

namespace falafel::stream {

// A directory of services, for hosts that share a machine and must not depend on its free ports.
// Each service then listens at a port that the system chooses. The calls come from the hosts'
// threads.
class ServiceBook {
 public:
  virtual ~ServiceBook() = default;
  // The address is one that the system resolves.
  virtual void add_host(const std::string& host, const std::string& address) = 0;
  virtual std::optional<std::string> find_host(const std::string& host) = 0;
  // False: another listener has this service.
  virtual bool add_port(const fabric::Address& service, std::uint16_t port) = 0;
  virtual void remove_port(const fabric::Address& service) = 0;
  virtual std::optional<std::uint16_t> find_port(const fabric::Address& service) = 0;
};

struct HostOptions {
  // The name of the host. Without a book, it is the name or address at which others reach it.
  std::string name;
  std::size_t device_count = 1;  // all of them are the same network
  // The address at which the host listens. Empty: its name.
  std::string listening_address;

  const std::string& address() const {
    return listening_address.empty() ? name : listening_address;
  }

  // Null: the service number is the port. Otherwise it outlives the host.
  ServiceBook* services = nullptr;
  // A host looks for messages this long before it sleeps.
  std::uint64_t spin_ns = 50'000;
};

}  // namespace falafel::stream
