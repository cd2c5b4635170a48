#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "stores/nessie/client.h"
#include "stores/nessie/invariants.h"
#include "stores/nessie/node.h"
#include "tests/stores/load/nessie_client.h"
#include "tests/vm/stores/store.h"

namespace falafel::vm_stores {
namespace {

// The server's host has node 0, which has no clients. Each client has a node of its own, with the
// next service number.
class NessieStore final : public Store {
 public:
  NessieStore(const Settings& settings, nessie::Architecture architecture)
      : settings_(settings), architecture_(architecture), inspections_(settings.clients + 1) {}

  Problems serve(fabric::Host& host, const std::function<Problems()>& body) override {
    const auto node = nessie::Node::start(host, 0, node_count(), options(0));
    if (!node) return {node.error().detail};
    if (Problems problems = body(); !problems.empty()) return problems;
    inspections_[0] = (*node)->inspect();
    return judge_memory();
  }

  Problems work(fabric::Host& host, std::uint32_t number,
                const std::function<void(AnyClient&&)>& body) override {
    const std::uint32_t own = number + 1;
    const auto node = nessie::Node::start(host, own, node_count(), options(own));
    if (!node) return {node.error().detail};
    Problems problems = use(host, **node, body);
    inspections_[own] = (*node)->inspect();
    meet(host);
    if (number == 0) {
      for (std::string& problem : judge_memory()) problems.push_back(std::move(problem));
    }
    meet(host);
    return problems;
  }

  std::set<stores::Answer> other_answers() const override {
    return {stores::Answer::busy, stores::Answer::out_of_memory, stores::Answer::table_full};
  }

 private:
  std::uint32_t node_count() const { return settings_.clients + 1; }

  nessie::Options options(std::uint32_t node) const {
    nessie::Options options = nessie::Options::hardened(architecture_);
    options.index_entries = 8;
    options.data_entries = 32;
    options.most_key_bytes = 8;
    options.most_value_bytes = 64;
    options.expiration_ns = 500 * millisecond_ns;
    options.service = static_cast<std::uint16_t>(settings_.service + node);
    options.acknowledge_timeout_ns = 200 * millisecond_ns;
    return options;
  }

  std::vector<fabric::Address> addresses() const {
    std::vector<fabric::Address> addresses;
    for (std::uint32_t node = 0; node < node_count(); ++node) {
      addresses.push_back({.host = node == 0 ? settings_.server : settings_.name,
                           .service = options(node).service});
    }
    return addresses;
  }

  Problems use(fabric::Host& host, nessie::Node& node,
               const std::function<void(AnyClient&&)>& body) {
    const auto client = nessie::Client::connect(host, node, addresses(),
                                                options(static_cast<std::uint32_t>(node.number())));
    if (!client) return {client.error().detail};
    body(stores_test::NessieClient(host, **client));
    (*client)->mark_staged();
    return {};
  }

  // Waits until all clients have called it.
  void meet(fabric::Host& host) {
    const std::uint32_t everyone = (arrivals_++ / settings_.clients + 1) * settings_.clients;
    while (arrivals_ < everyone) host.sleep_until(host.now_ns() + millisecond_ns);
  }

  // The nodes of this process. Entries may be referred to by the others.
  Problems judge_memory() {
    const auto known =
        std::ranges::find_if(inspections_, [](const auto& node) { return node.has_value(); });
    std::vector<nessie::NodeInspection> nodes;
    for (const auto& node : inspections_) {
      nodes.push_back(node ? *node
                           : nessie::NodeInspection{.layout = (*known)->layout,
                                                    .memory = nullptr,
                                                    .books = nullptr,
                                                    .service = nullptr});
    }
    for (auto& node : inspections_) node.reset();
    return nessie::find_problems(nodes, options(0), {.lost_entries = true});
  }

  Settings settings_;
  nessie::Architecture architecture_;
  std::vector<std::optional<nessie::NodeInspection>> inspections_;
  std::atomic<std::uint32_t> arrivals_ = 0;
};

}  // namespace

std::unique_ptr<Store> make_nessie(const Settings& settings, nessie::Architecture architecture) {
  return std::make_unique<NessieStore>(settings, architecture);
}

}  // namespace falafel::vm_stores
