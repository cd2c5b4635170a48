#include "fabric/shm/link.h"

#include <array>
#include <boost/asio/post.hpp>
#include <new>

#include "fabric/assert.h"
#include "fabric/realtime/clock.h"
#include "fabric/realtime/kept_file.h"
#include "fabric/shm/handshake.h"
#include "fabric/shm/process_state.h"
#include "fabric/shm/socket.h"

namespace falafel::shm {

using boost::asio::posix::stream_descriptor;

OwnEndpoint::~OwnEndpoint() { process_.arena().release(offset_, size_bytes_); }

Gate& OwnEndpoint::gate() const { return process_.arena().mapping()->object_at<Gate>(get().gate); }

Endpoint& OwnEndpoint::get() const {
  return process_.arena().mapping()->object_at<Endpoint>(offset_);
}

namespace {

template <typename Object>
Object* find_object(const MappedArena& arena, std::uint64_t offset) {
  const bool is_there = offset % cache_line_bytes == 0 && arena.reaches(offset, sizeof(Object));
  return is_there ? &arena.object_at<Object>(offset) : nullptr;
}

}  // namespace

fabric::Result<std::shared_ptr<Link>> Link::create(
    boost::asio::io_context& context, FileDescriptor socket, std::unique_ptr<OwnEndpoint> own,
    std::shared_ptr<MappedArena> peer_arena, std::uint64_t peer_endpoint, std::uint64_t gate_pass,
    std::shared_ptr<HostSignal> signal) {
  Peer peer{.arena = std::move(peer_arena), .pass = gate_pass};
  peer.endpoint = find_object<Endpoint>(*peer.arena, peer_endpoint);
  if (peer.endpoint != nullptr) {
    peer.wake_word = find_object<WakeWord>(*peer.arena, peer.endpoint->wake_word);
    peer.gate = find_object<Gate>(*peer.arena, peer.endpoint->gate);
  }
  if (peer.wake_word == nullptr || peer.gate == nullptr) {
    return fabric::make_error(
        fabric::ErrorCode::invalid_argument,
        fmt::format("the peer's endpoint at offset {} is not within its memory", peer_endpoint));
  }
  auto process = process_of(socket);
  if (!process) return tl::unexpected(process.error());
  return std::shared_ptr<Link>(new Link(context, std::move(socket), std::move(*process),
                                        std::move(own), std::move(peer), std::move(signal)));
}

Link::Link(boost::asio::io_context& context, FileDescriptor socket, FileDescriptor process,
           std::unique_ptr<OwnEndpoint> own, Peer peer, std::shared_ptr<HostSignal> signal)
    : own_(std::move(own)),
      place_(1),
      own_endpoint_(&own_->get()),
      own_gate_(&own_->gate()),
      peer_(std::move(peer)),
      signal_(std::move(signal)),
      socket_(context, socket.release()),
      process_(context) {
  if (process.is_open()) process_.assign(process.release());
}

// The peer may reach what the process keeps, unless the file of that has been left by now.
Link::~Link() {
  if (peer_.pass != 0) fabric::leave(*peer_.gate, peer_.pass);
}

void Link::send_handshake(HandshakeMessage message, const FileDescriptor& arena) {
  const GateInFile* const gate = own_->gate_in_file();
  if (gate != nullptr) {
    message.kept = gate->range().overlay();
    message.gate_pass = gate->pass();
  }
  const std::span<const std::byte> bytes = std::as_bytes(std::span(&message, 1));
  FALAFEL_ASSERT(parse_handshake(bytes).has_value() && message.endpoint == own_->offset(),
                 "the handshake names the endpoint {} instead of {}", message.endpoint,
                 own_->offset());
  send_message(socket_.native_handle(), bytes, &arena,
               gate != nullptr ? &gate->range().file() : nullptr);
}

void Link::watch() {
  boost::asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->await_message();
    self->await_end_of_process();
  });
}

void Link::await_message() {
  try {
    socket_.async_wait(stream_descriptor::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error) self->on_readable();
                       });
  } catch (const std::bad_alloc&) {
    note_loss();
  }
}

void Link::on_readable() {
  if (peer_has_closed()) return;
  std::array<std::byte, 1> said{};
  const ReceivedMessage received = receive_message(socket_.native_handle(), said);
  if (received.kind == ReceivedMessage::Kind::nothing_yet) return await_message();
  if (received.kind == ReceivedMessage::Kind::message && said[0] == goodbye) return on_goodbye();
  // The system closes the socket of a killed process before the last thread of the process has
  // ended.
  if (!process_.is_open()) peer_has_ended_.store(true);
  note_loss();
}

void Link::on_goodbye() {
  peer_has_closed_.store(true);
  signal_->raise();
  process_.close();  // the link no longer depends on the peer's process
}

// Children of the peer may inherit the socket and keep it open, so the process is watched too.
void Link::await_end_of_process() {
  if (!process_.is_open()) return;
  try {
    process_.async_wait(stream_descriptor::wait_read,
                        [self = shared_from_this()](const boost::system::error_code& error) {
                          if (!error) self->on_end_of_process();
                        });
  } catch (const std::bad_alloc&) {
    note_loss();
  }
}

// Also without memory to watch the peer, because this side would not learn of its end.
void Link::note_loss() {
  lost_.store(true);
  signal_->raise();
}

// Nobody but the next process that keeps the memory closes the gate, and that one may never come.
bool Link::is_gate_open_for_now() const {
  if (peer_.gate->state.load() != GateState::ready) return false;
  const std::uint64_t now_ns = fabric::monotonic_ns();
  std::uint64_t ended_ns = 0;
  if (ended_ns_.compare_exchange_strong(ended_ns, now_ns)) ended_ns = now_ns;
  return now_ns - ended_ns < fabric::kept_memory_serves_on_ns;
}

// The news of a goodbye and of the end of the process may arrive together, in any order.
void Link::on_end_of_process() {
  if (peer_has_closed()) return;
  std::array<std::byte, 1> said{};
  const ReceivedMessage received = receive_message(socket_.native_handle(), said);
  if (received.kind == ReceivedMessage::Kind::message && said[0] == goodbye) {
    socket_.cancel();
    return on_goodbye();
  }
  peer_has_ended_.store(true);
  socket_.cancel();
  note_loss();
}

void Link::append_to(std::list<std::shared_ptr<Link>>& links) noexcept {
  FALAFEL_ASSERT(!place_.empty(), "a link is appended to a second list");
  place_.front() = shared_from_this();
  links.splice(links.end(), place_);
}

void Link::close() {
  own_gate().state.store(GateState::closed);
  send_message(socket_.native_handle(), std::span(&goodbye, 1));
}

}  // namespace falafel::shm
