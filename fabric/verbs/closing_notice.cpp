#include "fabric/verbs/closing_notice.h"

#include <boost/asio/read.hpp>
#include <span>

namespace falafel::verbs {

namespace {

using boost::system::error_code;

constexpr std::byte goodbye{'b'};

}  // namespace

void ClosingNotice::listen() {
  boost::asio::async_read(socket_, boost::asio::buffer(heard_),
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            if (error || self->heard_[0] != goodbye) return;
                            self->peer_has_closed_ = true;
                            self->waiters_.wake_all();
                          });
}

// The socket has room for a byte, and the system delivers it even if this process ends now.
void ClosingNotice::say_goodbye() {
  if (is_closed_) return;
  is_closed_ = true;
  error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.send(boost::asio::buffer(&goodbye, 1), 0, ignored);
  socket_.close(ignored);
  waiters_.wake_all();
}

bool ClosingNotice::wait(std::uint64_t deadline_ns) {
  const auto self = shared_from_this();  // the queue pair may be closed during the wait
  while (!peer_has_closed_ && !is_closed_) {
    scheduler_.wait(&waiters_, deadline_ns);
    if (scheduler_.gives_up(deadline_ns)) break;
  }
  return peer_has_closed_ && !is_closed_;
}

}  // namespace falafel::verbs
