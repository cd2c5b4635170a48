#include <cstdio>

#include <CLI/CLI.hpp>

#include "tests/vm/stores/store.h"

namespace falafel::vm_stores {
namespace {

using Maker = std::unique_ptr<Store> (*)(const Settings&);

template <fabric::Transport transport>
std::unique_ptr<Store> make_two_sided_on(const Settings& settings) {
  return make_two_sided(settings, transport);
}

template <pilaf::GetPath gets>
std::unique_ptr<Store> make_pilaf_with(const Settings& settings) {
  return make_pilaf(settings, gets);
}

template <nessie::Architecture architecture>
std::unique_ptr<Store> make_nessie_as(const Settings& settings) {
  return make_nessie(settings, architecture);
}

struct NamedStore {
  const char* name;
  Maker make;
};
constexpr NamedStore named_stores[] = {
    {"pilaf", make_pilaf_with<pilaf::GetPath::reads>},
    {"pilaf-vo", make_pilaf_with<pilaf::GetPath::messages>},
    {"nessie-cd", make_nessie_as<nessie::Architecture::client_driven>},
    {"nessie-sd", make_nessie_as<nessie::Architecture::server_driven>},
    {"nessie-hy", make_nessie_as<nessie::Architecture::hybrid>},
    {"c-hint", make_c_hint},
    {"race", make_race},
    {"swarm", make_swarm},
    {"two-sided-rc", make_two_sided_on<fabric::Transport::reliable_connection>},
    {"two-sided-uc", make_two_sided_on<fabric::Transport::unreliable_connection>},
    {"two-sided-ud", make_two_sided_on<fabric::Transport::unreliable_datagram>},
};

}  // namespace

std::unique_ptr<Store> make_store(const Settings& settings) {
  for (const NamedStore& store : named_stores) {
    if (settings.store == store.name) return store.make(settings);
  }
  return nullptr;
}

std::vector<std::string> store_names() {
  std::vector<std::string> names;
  for (const NamedStore& store : named_stores) names.emplace_back(store.name);
  return names;
}

}  // namespace falafel::vm_stores

int main(int argc, char** argv) {
  using namespace falafel::vm_stores;
  Settings settings;
  CLI::App app("Runs a comparison store on real RDMA, and judges its history.");
  app.require_subcommand(1);
  app.add_option("--store", settings.store)->required()->check(CLI::IsMember(store_names()));
  app.add_option("--name", settings.name)->required();
  app.add_option("--server", settings.server);
  app.add_option("--service", settings.service);
  app.add_option("--clients", settings.clients);
  app.add_option("--operations", settings.operations);
  app.add_option("--keys", settings.keys);
  int status = 0;
  app.add_subcommand("serve", "runs the server until the clients have finished")->callback([&] {
    status = serve(settings);
  });
  app.add_subcommand("load", "runs the clients, judges their history, and stops the server")
      ->callback([&] { status = load(settings); });
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  CLI11_PARSE(app, argc, argv);
  return status;
}
