#include "falafel/verbs_fabric.h"

#include "fabric/verbs/host.h"

namespace falafel {
namespace {

constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20U;

// Hosts are named by the addresses on which they listen.
class VerbsFabric final : public Fabric {
 public:
  explicit VerbsFabric(const FabricOptions& options) : options_(options) {}

  fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_host(
      const std::string& name) override {
    return verbs::Host::create({.name = name,
                                .devices = {{.name = options_.device,
                                             .port = options_.port,
                                             .gid_index = options_.gid_index,
                                             .partition_key = options_.partition_key,
                                             .traffic_class = options_.traffic_class,
                                             .service_level = options_.service_level}},
                                .huge_page_bytes = options_.huge_pages ? huge_page_bytes : 0,
                                .report_failure = options_.report_failure});
  }
  fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_client_host() override {
    return create_host(own_server_name(options_));
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

}  // namespace falafel
