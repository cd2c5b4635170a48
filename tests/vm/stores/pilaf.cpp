#include "stores/pilaf/client.h"
#include "stores/pilaf/invariants.h"
#include "stores/pilaf/server.h"
#include "tests/vm/stores/store.h"

namespace falafel::vm_stores {
namespace {

// The memory grows while the clients work.
pilaf::Options pilaf_options(const Settings& settings, pilaf::GetPath gets) {
  pilaf::Options options;
  options.safeguards = pilaf::Safeguards::hardened();
  options.gets = gets;
  options.log = pilaf::Logging::off;
  options.put_on_reset = pilaf::PutOnReset::send_again;
  options.table_entries = 4;
  options.extents_bytes = 512;
  options.service = settings.service;
  options.max_clients = settings.clients;
  options.check_interval_ns = 100 * millisecond_ns;
  options.acknowledge_timeout_ns = 200 * millisecond_ns;
  return options;
}

class PilafStore final : public Store {
 public:
  PilafStore(const Settings& settings, pilaf::GetPath gets)
      : address_{.host = settings.server, .service = settings.service},
        options_(pilaf_options(settings, gets)) {}

  Problems serve(fabric::Host& host, const std::function<Problems()>& body) override {
    const auto server = pilaf::Server::start(host, options_);
    if (!server) return {server.error().detail};
    if (Problems problems = body(); !problems.empty()) return problems;
    const pilaf::ServerInspection inspection = (*server)->inspect();
    Problems problems = pilaf::find_problems(inspection);
    if (inspection.statistics.table_growths == 0) problems.push_back("the table never grew");
    return problems;
  }

  Problems work(fabric::Host& host, std::uint32_t /*number*/,
                const std::function<void(AnyClient&&)>& body) override {
    const auto client = pilaf::Client::connect(host, address_, options_);
    if (!client) return {client.error().detail};
    body(stores_test::ServedClient(**client));
    const bool has_read = (*client)->statistics().probes > 0;
    if (has_read == (options_.gets == pilaf::GetPath::reads)) return {};
    return {has_read ? "a GET used READs" : "no GET used READs"};
  }

 private:
  fabric::Address address_;
  pilaf::Options options_;
};

}  // namespace

std::unique_ptr<Store> make_pilaf(const Settings& settings, pilaf::GetPath gets) {
  return std::make_unique<PilafStore>(settings, gets);
}

}  // namespace falafel::vm_stores
