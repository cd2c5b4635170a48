// A server in a thread of the test. The test can end it as if its process had been killed.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "engine/server/server.h"
#include "fabric/fabric.h"

namespace falafel::server_program {

// A store whose values may have a time to live, and which evicts.
engine::ServerOptions cache_options();

class ServerThread {
 public:
  explicit ServerThread(std::filesystem::path directory, engine::ServerOptions options = {},
                        std::string name = "falafel");
  // A program that runs in place of the server under its name and reports when it is ready.
  using Program = std::function<void(fabric::Host&, const std::function<void()>& on_ready)>;
  ServerThread(std::filesystem::path directory, Program program, std::string name = "falafel");
  ~ServerThread();
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

  std::uint64_t clients_connected() const { return clients_connected_; }

 private:
  void run(const std::filesystem::path& directory, const Program& program, const std::string& name);

  std::atomic<bool> ready_ = false;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> clients_connected_ = 0;
  std::jthread thread_;
};

}  // namespace falafel::server_program
