#include "simulated_verbs/programs.h"

#include <fmt/format.h>

#include <utility>

#include "simulated_verbs/process.h"
#include "simulated_verbs/subnet.h"
#include "simulated_verbs/threads.h"

namespace falafel::simulated_verbs {

namespace {

// When main returns, the process ends, and its other threads with it.
int run_program(const std::shared_ptr<Process>& process, const Programs::Main& main) {
  const int status = process->threads().run_main(main);
  process->threads().end_all();
  return status;
}

Subnet::ReportInvalidCall report_of_invalid_calls(check::World& world,
                                                  const ProgramsOptions& options) {
  if (!options.is_strict) return nullptr;
  return [&world](std::string explanation) {
    world.fail(std::string(invalid_call_property), std::move(explanation));
  };
}

}  // namespace

Programs::Programs(check::World& world, const ProgramsOptions& options)
    : world_(world),
      subnet_(std::make_unique<Subnet>(
          [&world](std::string property, std::string explanation) {
            world.fail(std::move(property), std::move(explanation));
          },
          report_of_invalid_calls(world, options), options.has_shared_heaps)) {}

Programs::~Programs() = default;

check::World::HostBody Programs::as_body(Main main) {
  return [this, main = std::move(main)](fabric::Host& host) {
    const int status = run_program(std::make_shared<Process>(*subnet_, host), main);
    world_.check(status == 0, std::string(exit_status_property),
                 fmt::format("the program of {} ended with status {}", host.name(), status));
  };
}

// When a process ends, the kernel takes its memory away from the device.
void Programs::add(const std::string& name, sim::Role role, bool daemon, Main main) {
  subnet_->add_host(name);
  world_.host({.name = name, .role = role, .destruction_drains = true}, daemon,
              as_body(std::move(main)));
}

void Programs::server(const std::string& name, Main main) {
  add(name, sim::Role::server, true, std::move(main));
}

void Programs::client(const std::string& name, Main main) {
  add(name, sim::Role::client, false, std::move(main));
}

void Programs::clients(std::uint32_t count, const NumberedMain& main) {
  for (std::uint32_t added = 0; added < count; ++added, ++clients_) {
    client(fmt::format("client {}", clients_), [main, number = clients_] { return main(number); });
  }
}

}  // namespace falafel::simulated_verbs
