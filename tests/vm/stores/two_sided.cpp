#include "stores/two_sided/client.h"
#include "stores/two_sided/invariants.h"
#include "stores/two_sided/server.h"
#include "tests/vm/stores/store.h"

namespace falafel::vm_stores {
namespace {

two_sided::Options two_sided_options(const Settings& settings, fabric::Transport transport) {
  two_sided::Options options;
  options.safeguards = two_sided::Safeguards::hardened();
  options.transport = transport;
  options.waiting = two_sided::Waiting::blocking;
  options.buckets = 2;
  options.service = settings.service;
  options.max_clients = settings.clients;
  options.repetition_interval_ns = 100 * millisecond_ns;
  options.close_timeout_ns = 200 * millisecond_ns;
  options.acknowledge_timeout_ns = 200 * millisecond_ns;
  return options;
}

class TwoSidedStore final : public Store {
 public:
  TwoSidedStore(const Settings& settings, fabric::Transport transport)
      : address_{.host = settings.server, .service = settings.service},
        options_(two_sided_options(settings, transport)),
        least_requests_(std::uint64_t{settings.clients} * settings.operations) {}

  Problems serve(fabric::Host& host, const std::function<Problems()>& body) override {
    const auto server = two_sided::Server::start(host, options_);
    if (!server) return {server.error().detail};
    if (Problems problems = body(); !problems.empty()) return problems;
    const two_sided::ServerInspection inspection = (*server)->inspect();
    Problems problems = two_sided::find_problems(inspection);
    if (inspection.statistics.requests < least_requests_) {
      problems.push_back(std::to_string(inspection.statistics.requests) +
                         " requests were carried out, fewer than " +
                         std::to_string(least_requests_));
    }
    return problems;
  }

  // The outcome of close() may be unknown on UC and UD.
  Problems work(fabric::Host& host, std::uint32_t /*number*/,
                const std::function<void(AnyClient&&)>& body) override {
    const auto client = two_sided::Client::connect(host, address_, options_);
    if (!client) return {client.error().detail};
    body(stores_test::ServedClient(**client));
    const stores::Answer closed = (*client)->close().answer;
    if (options_.is_reliable() && closed != stores::Answer::deleted) {
      return {"close() answered " + std::string(to_string(closed))};
    }
    return {};
  }

 private:
  fabric::Address address_;
  two_sided::Options options_;
  std::uint64_t least_requests_;
};

}  // namespace

std::unique_ptr<Store> make_two_sided(const Settings& settings, fabric::Transport transport) {
  return std::make_unique<TwoSidedStore>(settings, transport);
}

}  // namespace falafel::vm_stores
