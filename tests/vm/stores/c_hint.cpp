#include "checkers/specifications/cache_register.h"
#include "stores/c_hint/client.h"
#include "stores/c_hint/invariants.h"
#include "stores/c_hint/server.h"
#include "tests/vm/stores/store.h"

namespace falafel::vm_stores {
namespace {

// There is memory for fewer items than keys, so items are evicted.
c_hint::Options c_hint_options(const Settings& settings) {
  c_hint::Options options;
  options.safeguards = c_hint::Safeguards::hardened();
  options.items_bytes = 256;
  options.unit_of_empty_memory_ns = 20 * millisecond_ns;
  options.unit_of_full_memory_ns = 10 * millisecond_ns;
  options.report_interval_ns = 50 * millisecond_ns;
  options.clock_error_ns = millisecond_ns;
  options.service = settings.service;
  options.max_clients = settings.clients;
  options.check_interval_ns = 100 * millisecond_ns;
  options.acknowledge_timeout_ns = 200 * millisecond_ns;
  return options;
}

// Without a backend, so it is a cache.
class CHintStore final : public Store {
 public:
  explicit CHintStore(const Settings& settings)
      : address_{.host = settings.server, .service = settings.service},
        options_(c_hint_options(settings)) {}

  Problems serve(fabric::Host& host, const std::function<Problems()>& body) override {
    const auto server = c_hint::Server::start(host, options_, nullptr);
    if (!server) return {server.error().detail};
    if (Problems problems = body(); !problems.empty()) return problems;
    const c_hint::ServerInspection inspection = (*server)->inspect();
    Problems problems = c_hint::find_problems(inspection);
    if (inspection.statistics.directory.evictions == 0) problems.push_back("nothing was evicted");
    return problems;
  }

  Problems work(fabric::Host& host, std::uint32_t /*number*/,
                const std::function<void(AnyClient&&)>& body) override {
    const auto client = c_hint::Client::connect(host, address_, options_);
    if (!client) return {client.error().detail};
    body(stores_test::ServedClient(**client));
    if ((*client)->statistics().pointer_hits == 0) return {"no GET used a pointer"};
    return {};
  }

  // A SET is refused while no lease has ended.
  std::set<stores::Answer> other_answers() const override {
    return {stores::Answer::out_of_memory};
  }
  checkers::Judgement judge(const stores_test::SharedHistory& history) const override {
    return history.judge<checkers::specifications::CacheRegister>();
  }

 private:
  fabric::Address address_;
  c_hint::Options options_;
};

}  // namespace

std::unique_ptr<Store> make_c_hint(const Settings& settings) {
  return std::make_unique<CHintStore>(settings);
}

}  // namespace falafel::vm_stores
