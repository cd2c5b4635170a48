#include "fabric/shm/reception.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "fabric/shm/socket.h"
#include "fabric/shm/trust.h"
#include "fabric/text.h"

namespace falafel::shm {

using boost::asio::posix::stream_descriptor;

namespace {

// The limit for callers that have sent nothing yet, and for callers that wait for an answer. Beyond
// the first limit, the oldest silent caller is dropped; beyond the second, a caller is rejected. So
// a process that stops in the middle of connecting, or connects without end, cannot use up the
// server's descriptors.
constexpr std::size_t max_silent_callers = 64;
constexpr std::size_t max_waiting_callers = 128;
// The descriptors that a caller takes until it is connected.
constexpr int descriptors_of_a_connection = 3;
// How long callers stay in the system's queue when the process has no descriptors left.
constexpr std::chrono::milliseconds pause_without_descriptors{10};

}  // namespace

void Caller::reject(std::span<const std::byte> reason) const {
  HandshakeMessage answer;
  answer.accepted = 0;
  answer.set_private_data(reason);
  send_message(socket.get(), std::as_bytes(std::span(&answer, 1)));
}

Reception::Reception(boost::asio::io_context& context, FileDescriptor socket,
                     std::filesystem::path folder, std::shared_ptr<HostSignal> signal,
                     std::shared_ptr<fabric::DescriptorShortage> shortage)
    : context_(context),
      socket_(context, socket.release()),
      folder_(std::move(folder)),
      pause_(context),
      signal_(std::move(signal)),
      shortage_(std::move(shortage)) {}

void Reception::watch() {
  socket_.async_wait(stream_descriptor::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error) self->accept_callers();
                     });
}

void Reception::close() {
  boost::asio::post(context_, [self = shared_from_this()] {
    self->socket_.close();
    self->pause_.cancel();
    while (!self->silent_.empty()) self->drop_oldest();
  });
}

std::optional<Caller> Reception::take() {
  const std::lock_guard lock(mutex_);
  if (callers_.empty()) return std::nullopt;
  Caller caller = std::move(callers_.front());
  callers_.pop_front();
  return caller;
}

void Reception::accept_callers() {
  for (;;) {
    Accepted accepted = accept_from(socket_.native_handle());
    if (accepted.kind == Accepted::Kind::nobody) return watch();
    if (accepted.kind == Accepted::Kind::no_descriptors) {
      shortage_->note(std::strerror(accepted.error));
      if (silent_.empty()) return pause();
      for (int count = 0; count < descriptors_of_a_connection; ++count) drop_oldest();
      continue;
    }
    if (silent_.size() == max_silent_callers) drop_oldest();
    silent_.push_back(std::make_shared<stream_descriptor>(context_, accepted.socket.release()));
    hear(SilentCaller(silent_.back()));
  }
}

void Reception::pause() {
  pause_.expires_after(pause_without_descriptors);
  pause_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error) self->watch();
  });
}

void Reception::drop_oldest() {
  if (silent_.empty()) return;
  silent_.front()->close();
  silent_.pop_front();
}

// Most callers have sent their request by the time they are accepted.
void Reception::hear(const SilentCaller& caller) {
  std::array<std::byte, sizeof(HandshakeMessage)> buffer{};
  ReceivedMessage received = receive_message(caller->native_handle(), buffer);
  if (received.kind == ReceivedMessage::Kind::nothing_yet) return await_request_of(caller);
  FileDescriptor socket(caller->release());
  std::erase(silent_, caller);
  if (received.lost_attachment) shortage_->note("the client's memory could not be received");
  const auto message = parse_handshake(std::span(buffer).first(received.length_bytes));
  if (!message || !received.attached.is_open()) return;  // not a peer of this fabric
  admit({.socket = std::move(socket), .message = *message, .arena = std::move(received.attached)});
}

// A caller may have been dropped although its request has arrived.
void Reception::await_request_of(const SilentCaller& caller) {
  caller->async_wait(stream_descriptor::wait_read,
                     [self = shared_from_this(), caller](const boost::system::error_code& error) {
                       if (!error && caller->is_open()) self->hear(caller);
                     });
}

void Reception::admit(Caller caller) {
  if (const auto checked = check_caller(caller.socket.get(), folder_); !checked) {
    return caller.reject(fabric::bytes_of(checked.error().detail));
  }
  if (caller.message.version != layout_version) {
    return caller.reject(fabric::bytes_of(
        fmt::format("it has version {}, not {}; use the same release on both sides", layout_version,
                    caller.message.version)));
  }
  {
    const std::lock_guard lock(mutex_);
    if (callers_.size() == max_waiting_callers) {
      return caller.reject(
          fabric::bytes_of("too many callers wait for a connection; try again later"));
    }
    callers_.push_back(std::move(caller));
  }
  signal_->raise();
}

}  // namespace falafel::shm
