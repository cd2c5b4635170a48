#include "falafel/shm_fabric.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "fabric/shm/process.h"

namespace falafel {
namespace {

// Returns the errno of a connection attempt to that socket; 0 on success.
int try_to_connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return ENOENT;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return errno;
  const bool connected =
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int problem = connected ? 0 : errno;
  ::close(socket);
  return problem;
}

class ShmFabric final : public Fabric {
 public:
  ShmFabric(std::filesystem::path directory, std::unique_ptr<shm::Process> process)
      : directory_(std::move(directory)), process_(std::move(process)) {}

  fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_host(
      const std::string& name) override {
    return process_->create_host(name);
  }
  fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_client_host() override {
    return process_->create_host("client");
  }

  ServerPresence look_for(const fabric::Address& server) const override {
    const std::filesystem::path socket = directory_ / server.host / std::to_string(server.service);
    switch (try_to_connect(socket.string())) {
      case ENOENT: return ServerPresence::absent;
      case ECONNREFUSED: return ServerPresence::abandoned;
      case EACCES:
      case EPERM: return ServerPresence::forbidden;
      default: return ServerPresence::unknown;
    }
  }

  std::string place() const override { return directory_.string(); }

  // A round trip costs little more than copying its bytes.
  engine::ReadaheadOptions readahead() const override {
    return {.chunk_entries = 8,
            .container_bytes = 128,
            .containers = 1,
            .adaptive = true,
            .validation = false};
  }
  // Looking up the cache takes longer than the round trip that it saves.
  engine::LocationCacheOptions location_cache() const override { return {.entries = 0}; }

 private:
  std::filesystem::path directory_;
  std::unique_ptr<shm::Process> process_;
};

}  // namespace

fabric::Result<std::unique_ptr<Fabric>> open_shm_fabric(const FabricOptions& options) {
  const std::filesystem::path directory =
      options.directory.empty() ? default_directory() : options.directory;
  auto process = shm::Process::create({.directory = directory,
                                       .memory_limit_bytes = options.memory_limit_bytes,
                                       .huge_pages = options.huge_pages,
                                       .report_failure = options.report_failure});
  if (!process) return tl::unexpected(process.error());
  return std::make_unique<ShmFabric>(directory, std::move(*process));
}

}  // namespace falafel
