#include "fabric/shm/listener.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "fabric/posting_rules.h"
#include "fabric/shm/connector.h"
#include "fabric/shm/handshake.h"
#include "fabric/shm/host.h"
#include "fabric/shm/queue_pair.h"
#include "fabric/shm/reception.h"
#include "fabric/shm/socket.h"
#include "fabric/shm/trust.h"

namespace falafel::shm {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

class ConnectionRequest final : public fabric::ConnectionRequest {
 public:
  ConnectionRequest(Host& host, Device& device, Caller caller)
      : host_(host), device_(device), caller_(std::move(caller)) {
    const auto data = caller_.message.private_span();
    private_data_.assign(data.begin(), data.end());
  }
  ~ConnectionRequest() override { reject({}); }
  ConnectionRequest(const ConnectionRequest&) = delete;
  ConnectionRequest& operator=(const ConnectionRequest&) = delete;

  const fabric::PrivateData& private_data() const override { return private_data_; }

  Result<std::unique_ptr<fabric::QueuePair>> accept(
      const fabric::QueuePairOptions& options, fabric::PrivateData private_data,
      std::span<const fabric::ReceiveRequest> first_receives) override {
    if (answered_)
      return make_error(ErrorCode::invalid_argument, "the request has been answered already");
    if (options.transport != fabric::Transport::reliable_connection) {
      return make_error(ErrorCode::invalid_argument, "transport: the client requested RC");
    }
    if (auto checked = fabric::check_private_data(private_data); !checked) {
      return tl::unexpected(checked.error());
    }
    auto prepared = device_.prepare(options, process_number_of(caller_.socket));
    if (!prepared) return tl::unexpected(prepared.error());
    ProcessState& process = host_.process();
    auto peer_arena = process.map_peer(caller_.message.arena, caller_.arena, {}, {});
    if (!peer_arena) return tl::unexpected(peer_arena.error());
    const std::uint64_t endpoint = prepared->endpoint->offset();
    auto link =
        Link::create(process.context(), std::move(caller_.socket), std::move(prepared->endpoint),
                     std::move(*peer_arena), caller_.message.endpoint, 0, host_.signal());
    answered_ = true;  // the link owns the socket now; on an error it has closed the socket
    if (!link) {
      if (link.error().code == ErrorCode::out_of_memory) {
        host_.descriptor_shortage()->note("the client's process could not be watched");
      }
      return tl::unexpected(link.error());
    }

    HandshakeMessage message;
    message.arena = process.arena().mapping()->header().id;
    message.endpoint = endpoint;
    message.set_private_data(private_data);
    prepared->queue_pair->attach(*link);
    auto posted = fabric::post_first_receives(*prepared->queue_pair, first_receives);
    if (!posted) return tl::unexpected(posted.error());
    (*link)->send_handshake(message, process.arena().file());
    (*link)->watch();
    return std::move(prepared->queue_pair);
  }

  void reject(fabric::PrivateData reason) override {
    if (answered_) return;
    answered_ = true;
    caller_.reject(reason);
  }

 private:
  Host& host_;
  Device& device_;
  Caller caller_;
  fabric::PrivateData private_data_;
  bool answered_ = false;
};

// While it lives, this process owns the path of a socket.
class SocketLock {
 public:
  static Result<SocketLock> take(const std::filesystem::path& socket_path) {
    std::filesystem::path path = socket_path;
    path += ".lock";
    for (;;) {
      FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
      if (!file.is_open()) {
        return make_error(ErrorCode::invalid_argument,
                          fmt::format("cannot create '{}': {}; choose another directory",
                                      path.native(), std::strerror(errno)));
      }
      if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        return make_error(ErrorCode::address_in_use,
                          fmt::format("'{}' already has a listener; stop it, or use another name",
                                      socket_path.native()));
      }
      // The previous owner may have removed the file after it was opened here.
      struct stat status {};
      if (::fstat(file.get(), &status) == 0 && status.st_nlink > 0) {
        return SocketLock(std::move(path), std::move(file));
      }
    }
  }
  ~SocketLock() {
    if (file_.is_open()) ::unlink(path_.c_str());
  }
  SocketLock(SocketLock&&) = default;
  SocketLock& operator=(SocketLock&&) = default;
  SocketLock(const SocketLock&) = delete;
  SocketLock& operator=(const SocketLock&) = delete;

 private:
  SocketLock(std::filesystem::path path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::filesystem::path path_;
  FileDescriptor file_;
};

class Listener final : public fabric::Listener {
 public:
  Listener(Host& host, Device& device, std::filesystem::path path, SocketLock lock,
           std::shared_ptr<Reception> reception)
      : host_(host),
        device_(device),
        path_(std::move(path)),
        lock_(std::move(lock)),
        reception_(std::move(reception)) {}
  ~Listener() override {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    while (const auto caller = reception_->take()) caller->reject({});
    reception_->close();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::unique_ptr<fabric::ConnectionRequest> accept(std::uint64_t deadline_ns) override {
    for (;;) {
      if (auto request = take()) return request;
      host_.scheduler().wait(&host_.signal_waiters(), deadline_ns);
      if (auto request = take()) return request;
      if (host_.scheduler().gives_up(deadline_ns)) return nullptr;
    }
  }

 private:
  std::unique_ptr<fabric::ConnectionRequest> take() {
    auto caller = reception_->take();
    if (!caller) return nullptr;
    return std::make_unique<ConnectionRequest>(host_, device_, std::move(*caller));
  }

  Host& host_;
  Device& device_;
  std::filesystem::path path_;
  SocketLock lock_;
  std::shared_ptr<Reception> reception_;
};

}  // namespace

Result<std::unique_ptr<fabric::Listener>> listen_to_service(Host& host, Device& device,
                                                            std::uint16_t service) {
  ProcessState& process = host.process();
  std::filesystem::path path = socket_path(process.options().directory, host.name(), service);
  if (auto made = make_folder(path.parent_path()); !made) return tl::unexpected(made.error());
  auto lock = SocketLock::take(path);
  if (!lock) return tl::unexpected(lock.error());
  std::error_code ignored;
  std::filesystem::remove(path, ignored);  // left by an owner that was killed
  auto socket = listen_at(path);
  if (!socket) return tl::unexpected(socket.error());
  auto reception =
      std::make_shared<Reception>(process.context(), std::move(*socket), path.parent_path(),
                                  host.signal(), host.descriptor_shortage());
  reception->watch();
  return std::make_unique<Listener>(host, device, std::move(path), std::move(*lock),
                                    std::move(reception));
}

}  // namespace falafel::shm
