#include "tools/server/memcached_front/session.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <utility>

namespace falafel::memcached_front {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// The session answers requests until the answers reach this length, and then sends them.
constexpr std::size_t enough_answers_bytes = 262'144;

}  // namespace

Session::Session(Socket socket, const ParserOptions& options, OnRequests on_requests,
                 Storage& storage, Statistics& statistics)
    : socket_(std::move(socket)),
      deadline_(socket_.get_executor()),
      on_requests_(std::move(on_requests)),
      parser_(options),
      responder_(storage, statistics, options),
      statistics_(statistics) {}

Session::~Session() { --statistics_.current_connections; }

void Session::read() {
  socket_.async_read_some(asio::buffer(received_),
                          [self = shared_from_this()](error_code error, std::size_t length) {
                            if (error) return;
                            self->parser_.append({self->received_.data(), length});
                            self->on_requests_(self);
                          });
}

void Session::answer(const std::function<void()>& let_others_run,
                     Responder::IfDisconnected if_disconnected) {
  while (answers_.size() < enough_answers_bytes) {
    const bool was_repeated = repeated_.has_value();
    auto request = was_repeated ? std::exchange(repeated_, std::nullopt) : parser_.next();
    if (!request) break;
    switch (responder_.respond(
        *request, answers_, was_repeated ? Responder::IfDisconnected::answer : if_disconnected)) {
      case Responder::Next::go_on: break;
      case Responder::Next::skip_get: parser_.skip_get(); break;
      case Responder::Next::end_connection: return write(true);
      case Responder::Next::repeat:
        repeated_ = std::move(request);
        return on_requests_(shared_from_this());
    }
    if (++requests_ % requests_per_turn == 0) let_others_run();
  }
  if (answers_.empty()) {
    read();
  } else {
    write(false);
  }
}

void Session::write(bool is_last) {
  asio::async_write(socket_, asio::buffer(answers_),
                    [self = shared_from_this(), is_last](error_code error, std::size_t) {
                      if (error) return;
                      self->answers_.clear();
                      if (is_last) {
                        self->discard_rest();
                      } else {
                        self->on_requests_(self);
                      }
                    });
}

// If the socket was closed while it has unread data, the system would reset the connection, and
// the client might not receive the last answer.
void Session::discard_rest() {
  constexpr std::chrono::seconds patience(2);
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  deadline_.expires_after(patience);
  deadline_.async_wait([self = shared_from_this()](error_code error) {
    if (!error) self->socket_.close();
  });
  discard();
}

void Session::discard() {
  socket_.async_read_some(asio::buffer(received_),
                          [self = shared_from_this()](error_code error, std::size_t) {
                            if (error) {
                              self->deadline_.cancel();
                            } else {
                              self->discard();
                            }
                          });
}

}  // namespace falafel::memcached_front
