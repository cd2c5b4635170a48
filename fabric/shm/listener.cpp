#include "fabric/shm/listener.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>

#include "fabric/posting_rules.h"
#include "fabric/realtime/clock.h"
#include "fabric/shm/connector.h"
#include "fabric/shm/handshake.h"
#include "fabric/shm/host.h"
#include "fabric/shm/queue_pair.h"
#include "fabric/shm/socket.h"

namespace falafel::shm {

using boost::asio::posix::stream_descriptor;
using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

// Somebody who has asked for a connection.
struct Caller {
  FileDescriptor socket;
  HandshakeMessage message;
  FileDescriptor arena;
};

void answer(const Caller& caller, const HandshakeMessage& message, const FileDescriptor* arena) {
  send_message(caller.socket.get(), std::as_bytes(std::span(&message, 1)), arena);
}

void answer_no(const Caller& caller, std::span<const std::byte> reason) {
  HandshakeMessage message;
  message.accepted = 0;
  message.set_private_data(reason);
  answer(caller, message, nullptr);
}

std::span<const std::byte> as_bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// How many callers there may be that have not said what they want, and how many more that wait for an answer.
// Beyond that, the oldest silent one is dropped, and who has spoken is refused: who stops in the middle of
// connecting, or connects for fun, costs the server so many descriptors and nobody a connection.
constexpr std::size_t max_silent_callers = 64;
constexpr std::size_t max_waiting_callers = 128;
// As many as a caller takes until it is connected.
constexpr int descriptors_of_a_connection = 3;
// When the process has no more descriptors, how long to leave callers in the system's queue.
constexpr std::chrono::milliseconds pause_without_descriptors{10};

// Waits, on the thread that makes connections, for callers, and for what each has to say.
class Reception : public std::enable_shared_from_this<Reception> {
 public:
  Reception(boost::asio::io_context& context, FileDescriptor socket,
            std::shared_ptr<HostSignal> signal)
      : context_(context),
        socket_(context, socket.release()),
        pause_(context),
        signal_(std::move(signal)) {}

  void watch() {
    socket_.async_wait(stream_descriptor::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error) self->accept_callers();
                       });
  }
  void close() {
    boost::asio::post(context_, [self = shared_from_this()] {
      self->socket_.close();
      self->pause_.cancel();
      while (!self->silent_.empty()) self->drop_oldest();
    });
  }
  std::optional<Caller> take() {
    const std::lock_guard lock(mutex_);
    if (callers_.empty()) return std::nullopt;
    Caller caller = std::move(callers_.front());
    callers_.pop_front();
    return caller;
  }

 private:
  using SilentCaller = std::shared_ptr<stream_descriptor>;  // closed when it is dropped

  void accept_callers() {
    for (;;) {
      Accepted accepted = accept_from(socket_.native_handle());
      if (accepted.kind == Accepted::Kind::nobody) return watch();
      if (accepted.kind == Accepted::Kind::no_descriptors) {
        if (silent_.empty()) return pause();
        for (int count = 0; count < descriptors_of_a_connection; ++count) drop_oldest();
        continue;
      }
      if (silent_.size() == max_silent_callers) drop_oldest();
      silent_.push_back(std::make_shared<stream_descriptor>(context_, accepted.socket.release()));
      hear(SilentCaller(silent_.back()));
    }
  }
  void pause() {
    pause_.expires_after(pause_without_descriptors);
    pause_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->watch();
    });
  }
  void drop_oldest() {
    if (silent_.empty()) return;
    silent_.front()->close();
    silent_.pop_front();
  }

  // Most have spoken by the time that they are accepted.
  void hear(const SilentCaller& caller) {
    std::array<std::byte, sizeof(HandshakeMessage)> buffer{};
    ReceivedMessage received = receive_message(caller->native_handle(), buffer);
    if (received.kind == ReceivedMessage::Kind::nothing_yet) return await_words_of(caller);
    FileDescriptor socket(caller->release());
    std::erase(silent_, caller);
    const auto message = parse_handshake(std::span(buffer).first(received.length_bytes));
    if (!message || !received.attached.is_open()) return;  // no peer of ours
    on_spoken(
        {.socket = std::move(socket), .message = *message, .arena = std::move(received.attached)});
  }
  // A caller may be dropped when its words are there, but were not heard yet.
  void await_words_of(const SilentCaller& caller) {
    caller->async_wait(stream_descriptor::wait_read,
                       [self = shared_from_this(), caller](const boost::system::error_code& error) {
                         if (!error && caller->is_open()) self->hear(caller);
                       });
  }

  void on_spoken(Caller caller) {
    if (caller.message.version != layout_version) {
      return answer_no(caller, as_bytes_of(fmt::format("it speaks version {}, not {}",
                                                       layout_version, caller.message.version)));
    }
    {
      const std::lock_guard lock(mutex_);
      if (callers_.size() == max_waiting_callers) {
        return answer_no(caller, as_bytes_of("too many wait to be connected"));
      }
      callers_.push_back(std::move(caller));
    }
    signal_->raise();
  }

  boost::asio::io_context& context_;
  stream_descriptor socket_;
  boost::asio::steady_timer pause_;
  std::deque<SilentCaller> silent_;  // from the oldest on
  std::shared_ptr<HostSignal> signal_;
  std::mutex mutex_;
  std::deque<Caller> callers_;  // who have spoken, and wait for an answer
};

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

  Result<std::unique_ptr<fabric::QueuePair>> accept(const fabric::QueuePairOptions& options,
                                                    fabric::PrivateData private_data) override {
    if (answered_)
      return make_error(ErrorCode::invalid_argument, "the request was answered before");
    if (options.transport != fabric::Transport::reliable_connection) {
      return make_error(ErrorCode::invalid_argument, "transport: the client asks for RC");
    }
    if (auto checked = fabric::check_private_data(private_data); !checked) {
      return tl::unexpected(checked.error());
    }
    auto prepared = device_.prepare(options);
    if (!prepared) return tl::unexpected(prepared.error());
    ProcessState& process = host_.process();
    auto peer_arena = process.map_peer(caller_.message.arena, caller_.arena);
    if (!peer_arena) return tl::unexpected(peer_arena.error());
    const std::uint64_t endpoint = prepared->endpoint->offset();
    auto link =
        Link::create(process.context(), std::move(caller_.socket), std::move(prepared->endpoint),
                     std::move(*peer_arena), caller_.message.endpoint, host_.signal());
    answered_ = true;  // or its socket is closed
    if (!link) return tl::unexpected(link.error());

    HandshakeMessage message;
    message.arena = process.arena().mapping()->header().id;
    message.endpoint = endpoint;
    message.set_private_data(private_data);
    (*link)->send_handshake(message, process.arena().file());
    (*link)->watch();
    prepared->queue_pair->attach(std::move(*link));
    return std::move(prepared->queue_pair);
  }

  void reject(fabric::PrivateData reason) override {
    if (answered_) return;
    answered_ = true;
    answer_no(caller_, reason);
  }

 private:
  Host& host_;
  Device& device_;
  Caller caller_;
  fabric::PrivateData private_data_;
  bool answered_ = false;
};

// The right to a socket's path, as long as this lives.
class SocketLock {
 public:
  static Result<SocketLock> take(const std::filesystem::path& socket_path) {
    std::filesystem::path path = socket_path;
    path += ".lock";
    for (;;) {
      FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
      if (!file.is_open()) {
        return make_error(ErrorCode::invalid_argument,
                          fmt::format("'{}' cannot be written: {}; choose another directory",
                                      path.native(), std::strerror(errno)));
      }
      if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        return make_error(ErrorCode::address_in_use,
                          fmt::format("'{}' has a listener already; stop it, or use another name",
                                      socket_path.native()));
      }
      // Its owner may have removed it after it was opened here.
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
    while (const auto caller = reception_->take()) answer_no(*caller, {});
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

Result<void> make_directory(const std::filesystem::path& directory) {
  std::error_code error;
  if (std::filesystem::is_directory(directory, error)) return {};
  if (std::filesystem::create_directories(directory, error)) {
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
    if (!error) return {};
  }
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("directory '{}' cannot be made: {}; choose another one",
                                directory.native(), error.message()));
}

}  // namespace

Result<std::unique_ptr<fabric::Listener>> listen_to_service(Host& host, Device& device,
                                                            std::uint16_t service) {
  ProcessState& process = host.process();
  std::filesystem::path path = socket_path(process.options().directory, host.name(), service);
  for (const auto& directory : {process.options().directory, path.parent_path()}) {
    if (auto made = make_directory(directory); !made) return tl::unexpected(made.error());
  }
  auto lock = SocketLock::take(path);
  if (!lock) return tl::unexpected(lock.error());
  std::error_code ignored;
  std::filesystem::remove(path, ignored);  // of an owner that was killed
  auto socket = listen_at(path);
  if (!socket) return tl::unexpected(socket.error());
  auto reception =
      std::make_shared<Reception>(process.context(), std::move(*socket), host.signal());
  reception->watch();
  return std::make_unique<Listener>(host, device, std::move(path), std::move(*lock),
                                    std::move(reception));
}

}  // namespace falafel::shm
