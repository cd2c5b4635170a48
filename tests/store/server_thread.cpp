#include "tests/store/server_thread.h"

#include <chrono>

#include "falafel/fabric_choice.h"

namespace falafel::server_program {

engine::ServerOptions cache_options() {
  engine::ServerOptions options;
  options.geometry.values_expire = true;
  options.evicts = true;
  return options;
}

ServerThread::ServerThread(std::filesystem::path directory, engine::ServerOptions options,
                           std::string name)
    : ServerThread(
          std::move(directory),
          [this, options](fabric::Host& host, const std::function<void()>& on_ready) {
            const auto server = engine::Server::start(host, options);
            FALAFEL_ASSERT(server.has_value(), "{}", server.error().detail);
            on_ready();
            for (;;) {
              clients_connected_ = (*server)->inspect().statistics.clients_connected;
              host.sleep_until(host.now_ns() + 1'000'000);
            }
          },
          std::move(name)) {}

ServerThread::ServerThread(std::filesystem::path directory, Program program, std::string name)
    : thread_([this, directory = std::move(directory), program = std::move(program),
               name = std::move(name)] { run(directory, program, name); }) {
  while (!ready_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

ServerThread::~ServerThread() { stopping_ = true; }

void ServerThread::run(const std::filesystem::path& directory, const Program& program,
                       const std::string& name) {
  auto fabric = open_fabric({.directory = directory});
  FALAFEL_ASSERT(fabric.has_value(), "{}", fabric.error().detail);
  auto host = (*fabric)->create_host(name);
  FALAFEL_ASSERT(host.has_value(), "{}", host.error().detail);
  (*host)->run_program([&] {
    (*host)->spawn({.name = "program", .daemon = true},
                   [&] { program(**host, [this] { ready_ = true; }); });
    while (!stopping_) (*host)->sleep_until((*host)->now_ns() + 1'000'000);
  });
}

}  // namespace falafel::server_program
