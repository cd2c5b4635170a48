#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tests/hang_limit.h"
#include "tests/vm/driver/driver.h"

namespace falafel::driver {

engine::ServerOptions server_options(const Settings& settings) {
  engine::ServerOptions options;
  options.geometry = {.unit_bytes = 8,
                      .table_entries = 128,
                      .region_bytes = 8'192,
                      .region_count = 24,
                      .mature_bytes = 131'072};
  options.service = settings.service;
  options.max_clients = settings.max_clients;
  options.cleanup_percent = 2;
  options.cleanup_interval_ns = 200 * millisecond_ns;
  options.acknowledge_timeout_ns = 200 * millisecond_ns;
  return options;
}

engine::ClientOptions client_options() {
  engine::ClientOptions options;
  options.connect_timeout_ns = hang_limit_ns;
  options.acknowledge_timeout_ns = 200 * millisecond_ns;
  return options;
}

int run_on_host(const Settings& settings, const std::function<int(verbs::Host&)>& body) {
  verbs::HostOptions options;
  options.name = settings.name;
  options.devices.front().name = settings.device;
  if (settings.gid_index >= 0) {
    options.devices.front().gid_index = static_cast<std::uint8_t>(settings.gid_index);
  }
  options.devices.front().partition_key = settings.partition_key;
  options.devices.front().traffic_class = settings.traffic_class;
  options.spin_ns = settings.spin_us * 1'000;
  options.report_failure = [](std::string_view what) { fmt::print("device: {}\n", what); };
  auto host = verbs::Host::create(options);
  if (!host) {
    fmt::print("{}: {}\n", to_string(host.error().code), host.error().detail);
    return 2;
  }
  int status = 0;
  (*host)->run_program([&] { status = body(**host); });
  return status;
}

}  // namespace falafel::driver

int main(int argc, char** argv) {
  using namespace falafel::driver;
  Settings settings;
  CLI::App app("Puts a store on real RDMA to the test.");
  app.require_subcommand(1);
  app.add_option("--name", settings.name)->required();
  app.add_option("--server", settings.server);
  app.add_option("--service", settings.service);
  app.add_option("--device", settings.device);
  app.add_option("--interface", settings.interface);
  app.add_option("--gid-index", settings.gid_index);
  app.add_option("--partition-key", settings.partition_key);
  app.add_option("--traffic-class", settings.traffic_class);
  app.add_option("--spin-us", settings.spin_us);
  app.add_option("--client", settings.client);
  app.add_option("--fibers", settings.fibers);
  app.add_option("--keys", settings.keys);
  app.add_option("--key-prefix", settings.key_prefix);
  app.add_option("--seconds", settings.seconds);
  app.add_option("--operations", settings.operations);
  app.add_option("--value-bytes", settings.value_bytes);
  app.add_option("--events", settings.events);
  app.add_flag("--reconnect", settings.reconnects);
  app.add_option("--max-clients", settings.max_clients);
  app.add_option("--rounds", settings.rounds);
  int status = 0;
  const auto add = [&](const char* name, int (*command)(const Settings&)) {
    app.add_subcommand(name)->callback(
        [&settings, &status, command] { status = command(settings); });
  };
  add("serve", serve);
  add("finish", finish);
  add("load", load);
  add("read-back", read_back);
  add("intrude", intrude);
  add("measure", measure);
  add("watch", watch);
  add("lose-port", lose_port);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  CLI11_PARSE(app, argc, argv);
  return status;
}
