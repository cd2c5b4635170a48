// The only place where a program selects its fabric. All other code knows only this interface and
// that hosts are RealTimeHosts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/client/client.h"
#include "fabric/fabric.h"
#include "fabric/realtime/host.h"
#include "falafel/fabric_options.h"

namespace falafel {

// The state of a server, as far as a failed connection reveals it.
enum class ServerPresence : std::uint8_t {
  unknown,    // no problem was detected
  absent,     // the name does not exist
  abandoned,  // the name exists, but its server has ended
  forbidden,  // this user may not connect
};

class Fabric {
 public:
  virtual ~Fabric() = default;  // requires that its hosts are destroyed
  // Creates a host that listens under this name. Errors: invalid_argument (the name),
  // out_of_memory.
  virtual fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_host(
      const std::string& name) = 0;
  // Creates a host that only connects. Errors: see create_host.
  virtual fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_client_host() = 0;
  virtual ServerPresence look_for(const fabric::Address& server) const = 0;
  // The place where server addresses are looked up, for messages.
  virtual std::string place() const = 0;
  // The recommended readahead at this fabric's round-trip cost.
  virtual engine::ReadaheadOptions readahead() const = 0;
  // The same for the location cache.
  virtual engine::LocationCacheOptions location_cache() const = 0;
};

// Errors: invalid_argument (an unknown fabric or an unusable directory), out_of_memory.
fabric::Result<std::unique_ptr<Fabric>> open_fabric(const FabricOptions& options);

// The reason why reserved memory of the server with this name (fabric::Host::reserve_memory) would
// all be there from the start. Empty: it saves memory, or the server's host cannot be created.
std::string obstacle_to_growth(const FabricOptions& options, const std::string& server);

}  // namespace falafel
