#include "falafel/verbs_fabric.h"

#include "fabric/verbs/host.h"

namespace falafel {
namespace {

constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20U;

verbs::HostOptions options_of_host(const FabricOptions& options, const std::string& name) {
  return {.name = name,
          .devices = {{.name = options.device,
                       .port = options.port,
                       .gid_index = options.gid_index,
                       .partition_key = options.partition_key,
                       .traffic_class = options.traffic_class,
                       .service_level = options.service_level}},
          .huge_page_bytes = options.huge_pages ? huge_page_bytes : 0,
          .report_failure = options.report_failure};
}

// The store takes turns with the devices that there are at its start.
verbs::HostOptions options_of_client(const FabricOptions& options, const std::string& name) {
  verbs::HostOptions host = options_of_host(options, name);
  if (!options.spare) return host;
  verbs::DeviceOptions& first = host.devices.front();
  verbs::DeviceOptions spare = first;  // the same network
  first.own_address = options.own_address;
  spare.name = options.spare->device;
  spare.port = options.spare->port;
  spare.gid_index = options.spare->gid_index;
  spare.own_address = options.spare->own_address;
  host.devices.push_back(std::move(spare));
  host.needs_all_devices = false;
  return host;
}

// Hosts are named by the addresses on which they listen.
class VerbsFabric final : public Fabric {
 public:
  explicit VerbsFabric(const FabricOptions& options) : options_(options) {}

  fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_host(
      const std::string& name) override {
    return verbs::Host::create(options_of_host(options_, name));
  }
  fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_client_host() override {
    return verbs::Host::create(options_of_client(options_, own_server_name(options_)));
  }

  ServerPresence look_for(const fabric::Address& /*server*/) const override {
    return ServerPresence::unknown;  // it may run on another machine
  }
  std::string place() const override { return "the network"; }
  engine::ReadaheadOptions readahead() const override { return {}; }
  engine::LocationCacheOptions location_cache() const override { return {.entries = 65'536}; }

 private:
  FabricOptions options_;
};

}  // namespace

fabric::Result<std::unique_ptr<Fabric>> open_verbs_fabric(const FabricOptions& options) {
  return std::make_unique<VerbsFabric>(options);
}

std::string obstacle_to_paging(const FabricOptions& options, const std::string& server) {
  const auto host = verbs::Host::create(options_of_host(options, server));
  return host ? (*host)->obstacle_to_paging() : std::string();
}

}  // namespace falafel
