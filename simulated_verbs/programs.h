// Existing verbs programs as the hosts of a check::World. A program is a function that was written
// for libibverbs: it calls ibv_open_device, malloc, socket and so on, and is linked with
// falafel::simulated_verbs in place of libibverbs.
//
//   [](check::World& world) {
//     simulated_verbs::Programs programs(world);
//     programs.server("server", [] { return server_main(); });
//     programs.clients(2, [](std::uint32_t client) { return client_main("server", client); });
//     world.run();
//   }
//
// Every host runs its program as a process of its own, with its own heap and sockets. Global
// variables are shared by all processes of a run and keep their values from run to run, except
// those of a Program (program.h); another one that changes some cannot be several hosts at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "explorer/check/world.h"

namespace falafel::simulated_verbs {

class Subnet;

struct ProgramsOptions {
  // A call that the specification forbids fails the run (invalid_call_property), in addition to the
  // error that libibverbs returns.
  bool is_strict = false;
  // The heaps of the processes can be mapped by other processes of the system.
  bool has_shared_heaps = false;
};

class Programs {
 public:
  using Main = std::function<int()>;
  using NumberedMain = std::function<int(std::uint32_t number)>;

  explicit Programs(check::World& world, const ProgramsOptions& options = {});
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  // Before World::run(), as the calls of check::World of these names. A program that returns
  // something other than 0 fails the run (exit_status_property).
  void server(const std::string& name, Main main);
  void client(const std::string& name, Main main);
  // "client 0", "client 1", ...
  void clients(std::uint32_t count, const NumberedMain& main);

 private:
  void add(const std::string& name, sim::Role role, bool daemon, Main main);
  check::World::HostBody as_body(Main main);

  check::World& world_;
  std::unique_ptr<Subnet> subnet_;
  std::uint32_t clients_ = 0;
};

inline constexpr std::string_view exit_status_property = "verbs.exit-status";
inline constexpr std::string_view invalid_call_property = "verbs.invalid-call";

}  // namespace falafel::simulated_verbs
