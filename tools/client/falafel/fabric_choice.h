// The one place where a program chooses its fabric: everything else knows this interface, and that hosts
// are RealTimeHosts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/client/client.h"
#include "fabric/fabric.h"
#include "fabric/realtime/host.h"
#include "falafel/fabric_options.h"

namespace falafel {

// What can be seen of a server from outside: why a connection to it failed.
enum class ServerPresence : std::uint8_t {
  unknown,    // nothing is wrong that could be seen
  absent,     // there is no such name
  abandoned,  // there is, but whoever served under it is gone
  forbidden,  // this user may not connect
};

class Fabric {
 public:
  virtual ~Fabric() = default;  // its hosts are gone
  // A host that listens under this name. Errors: invalid_argument (the name), out_of_memory.
  virtual fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_host(
      const std::string& name) = 0;
  // One that connects only. Errors: as create_host.
  virtual fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_client_host() = 0;
  virtual ServerPresence look_for(const fabric::Address& server) const = 0;
  // Where the address of a server is looked up, for messages.
  virtual std::string place() const = 0;
  // How much to read ahead where a round trip costs what it does here.
  virtual engine::ReadaheadOptions readahead() const = 0;
};

// Errors: invalid_argument (no such fabric, a directory that cannot be used), out_of_memory.
fabric::Result<std::unique_ptr<Fabric>> open_fabric(const FabricOptions& options);

}  // namespace falafel
