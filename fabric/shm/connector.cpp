#include "fabric/shm/connector.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "fabric/shm/handshake.h"
#include "fabric/shm/host.h"
#include "fabric/shm/queue_pair.h"
#include "fabric/shm/socket.h"
#include "fabric/text.h"

namespace falafel::shm {

using boost::asio::posix::stream_descriptor;
using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

bool is_host_name(const std::string& name) {
  constexpr std::size_t max_name_bytes = 64;
  const bool is_long = name.empty() || name.size() > max_name_bytes;
  return !is_long && name.front() != '.' && std::ranges::all_of(name, [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '-' || character == '_' ||
           character == '.';
  });
}

std::filesystem::path socket_path(const std::filesystem::path& directory, const std::string& host,
                                  std::uint16_t service) {
  return directory / host / std::to_string(service);
}

namespace {

// The answer of a listener. The fiber that waits for it and the thread that receives it share this
// object.
class PendingAnswer : public std::enable_shared_from_this<PendingAnswer> {
 public:
  PendingAnswer(boost::asio::io_context& context, FileDescriptor socket,
                std::shared_ptr<HostSignal> signal)
      : socket_(context, socket.release()), signal_(std::move(signal)) {}

  void watch() {
    socket_.async_wait(stream_descriptor::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error) self->on_readable();
                       });
  }
  // Ends the wait of the other thread: the socket becomes readable.
  void abandon() noexcept {
    const std::lock_guard lock(mutex_);
    ::shutdown(socket_.native_handle(), SHUT_RDWR);
  }

  struct Answer {
    std::optional<HandshakeMessage> message;  // empty if it is not a handshake
    FileDescriptor arena;
    FileDescriptor kept;
    bool is_gone = false;  // the listener closed the connection without an answer
    FileDescriptor socket;
  };
  std::optional<Answer> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(answer_, std::nullopt);
  }

 private:
  void on_readable() {
    std::array<std::byte, sizeof(HandshakeMessage)> buffer{};
    ReceivedMessage received = receive_message(socket_.native_handle(), buffer, 2);
    if (received.kind == ReceivedMessage::Kind::nothing_yet) return watch();
    {
      const std::lock_guard lock(mutex_);
      answer_ = Answer{.message = parse_handshake(std::span(buffer).first(received.length_bytes)),
                       .arena = std::move(received.attached),
                       .kept = std::move(received.attached_second),
                       .is_gone = received.kind == ReceivedMessage::Kind::end,
                       .socket = FileDescriptor(socket_.release())};
    }
    signal_->raise();
  }

  stream_descriptor socket_;
  std::shared_ptr<HostSignal> signal_;
  std::mutex mutex_;
  std::optional<Answer> answer_;
};

// Returns the error if the answer does not accept the connection.
Result<void> check_answer(const PendingAnswer::Answer& answer, const fabric::Address& address) {
  const auto refuse = [&](std::string_view why) {
    return make_error(
        ErrorCode::connection_refused,
        fmt::format("{} rejected the connection{}{}", address.host, why.empty() ? "" : ": ", why));
  };
  if (answer.is_gone) {
    return make_error(ErrorCode::unreachable,
                      fmt::format("{} disconnected before it answered; restart it", address.host));
  }
  if (!answer.message)
    return refuse(
        "its answer is not a handshake of this fabric; use the same release on both sides");
  if (answer.message->accepted == 0) return refuse(fabric::view_of(answer.message->private_span()));
  if (answer.message->version != layout_version) {
    return refuse(
        fmt::format("its shared memory has version {}, ours has {}; use the same release on "
                    "both sides",
                    answer.message->version, layout_version));
  }
  return {};
}

Result<PendingAnswer::Answer> await_answer(Host& host, FileDescriptor socket,
                                           const fabric::Address& address,
                                           std::uint64_t deadline_ns) {
  const auto pending =
      std::make_shared<PendingAnswer>(host.process().context(), std::move(socket), host.signal());
  struct Abandon {
    PendingAnswer& answer;
    ~Abandon() { answer.abandon(); }
  } const at_end{*pending};
  pending->watch();
  for (;;) {
    if (auto answer = pending->take()) return std::move(*answer);
    host.scheduler().wait(&host.signal_waiters(), deadline_ns);
    if (auto answer = pending->take()) return std::move(*answer);
    if (host.scheduler().gives_up(deadline_ns)) {
      return make_error(ErrorCode::unreachable,
                        fmt::format("{} did not answer in time", address.host));
    }
  }
}

}  // namespace

Result<fabric::Connection> connect_to_listener(Host& host, const fabric::Address& address,
                                               Device::Prepared prepared,
                                               std::span<const std::byte> private_data,
                                               std::uint64_t deadline_ns) {
  if (!is_host_name(address.host)) {
    return make_error(ErrorCode::unreachable,
                      fmt::format("address: '{}' cannot name a host; use up to 64 letters, digits, "
                                  "'-', '_' and '.'",
                                  address.host));
  }
  ProcessState& process = host.process();
  auto socket = connect_to(socket_path(process.options().directory, address.host, address.service));
  if (!socket) return tl::unexpected(socket.error());

  HandshakeMessage message;
  message.arena = process.arena().mapping()->header().id;
  message.endpoint = prepared.endpoint->offset();
  message.set_private_data(private_data);
  send_message(socket->get(), std::as_bytes(std::span(&message, 1)), &process.arena().file());
  auto answer = await_answer(host, std::move(*socket), address, deadline_ns);
  if (!answer) return tl::unexpected(answer.error());
  if (auto checked = check_answer(*answer, address); !checked) {
    return tl::unexpected(checked.error());
  }
  auto peer_arena =
      process.map_peer(answer->message->arena, answer->arena, answer->message->kept, answer->kept);
  if (!peer_arena) return tl::unexpected(peer_arena.error());
  // This process need not leave a gate of its own.
  const bool is_own = *peer_arena == process.arena().mapping();
  const std::uint64_t gate_pass = is_own ? 0 : answer->message->gate_pass;

  auto link =
      Link::create(process.context(), std::move(answer->socket), std::move(prepared.endpoint),
                   std::move(*peer_arena), answer->message->endpoint, gate_pass, host.signal());
  if (!link) return tl::unexpected(link.error());
  (*link)->watch();
  prepared.queue_pair->attach(std::move(*link));
  const auto reply = answer->message->private_span();
  return fabric::Connection{std::move(prepared.queue_pair),
                            fabric::PrivateData(reply.begin(), reply.end())};
}

}  // namespace falafel::shm
