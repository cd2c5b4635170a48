#include "fabric/shm/link.h"

#include <unistd.h>

#include <array>

#include "fabric/shm/hello.h"
#include "fabric/shm/process_core.h"
#include "fabric/shm/socket.h"

namespace falafel::shm {

using boost::asio::posix::stream_descriptor;

OwnEndpoint::~OwnEndpoint() { process_.arena().release(offset_, size_bytes_); }

Endpoint& OwnEndpoint::get() const {
  return process_.arena().mapping()->object_at<Endpoint>(offset_);
}

Link::Link(boost::asio::io_context& context, FileDescriptor socket,
           std::unique_ptr<OwnEndpoint> own, std::shared_ptr<MappedArena> peer_arena,
           std::uint64_t peer_endpoint, std::shared_ptr<HostSignal> signal)
    : socket_(std::move(socket)),
      own_(std::move(own)),
      own_endpoint_(&own_->get()),
      peer_arena_(std::move(peer_arena)),
      peer_(&peer_arena_->object_at<Endpoint>(peer_endpoint)),
      signal_(std::move(signal)),
      watched_(context, ::dup(socket_.get())) {}

void Link::send_hello(const Hello& hello, const FileDescriptor& arena) {
  send_message(socket_, std::as_bytes(std::span(&hello, 1)), &arena);
}

void Link::watch() {
  watched_.async_wait(stream_descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        if (!error) self->on_readable();
                      });
}

void Link::on_readable() {
  std::array<std::byte, 1> said{};
  const ReceivedMessage received = receive_message(socket_, said);
  if (received.kind == ReceivedMessage::Kind::nothing_yet) return watch();
  if (received.kind == ReceivedMessage::Kind::message && said[0] == goodbye) return;
  lost_.store(true);
  signal_->raise();
  await_end_of_process();
}

// The socket of a process that is killed is closed before its last thread has ended for certain.
void Link::await_end_of_process() {
  FileDescriptor process = process_of(socket_);
  if (!process.is_open()) {  // it has been waited for already
    peer_has_ended_.store(true);
    return signal_->raise();
  }
  watched_ = stream_descriptor(watched_.get_executor(), process.release());
  watched_.async_wait(stream_descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        if (error) return;
                        self->peer_has_ended_.store(true);
                        self->signal_->raise();
                      });
}

void Link::close() {
  own().state.store(EndpointState::closed);
  send_message(socket_, std::span(&goodbye, 1));
}

}  // namespace falafel::shm
