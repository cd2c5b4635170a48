#include "tools/server/status_socket.h"

#include <fmt/format.h>

#include <boost/asio.hpp>
#include <memory>
#include <sstream>
#include <utility>

#include "fabric/shm/trust.h"
#include "tools/server/listening.h"

namespace falafel::server_program {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Protocol = asio::local::stream_protocol;

constexpr std::size_t longest_line_bytes = 64;

fabric::ErrorCode code_of_listening(const error_code& error) {
  if (error == asio::error::access_denied || error == asio::error::no_permission) {
    return fabric::ErrorCode::access_denied;
  }
  return fabric::ErrorCode::invalid_argument;
}

}  // namespace

// One request. The session lives until its last handler has run.
class StatusSession : public std::enable_shared_from_this<StatusSession> {
 public:
  StatusSession(Protocol::socket socket, ReportSource source)
      : socket_(std::move(socket)), deadline_(socket_.get_executor()), source_(std::move(source)) {}

  void start(std::chrono::milliseconds patience) {
    deadline_.expires_after(patience);
    deadline_.async_wait([weak = weak_from_this()](error_code cancelled) {
      const auto self = weak.lock();
      if (self != nullptr && !cancelled) self->close();
    });
    asio::async_read_until(socket_, asio::dynamic_buffer(line_, longest_line_bytes), '\n',
                           [self = shared_from_this()](error_code error, std::size_t) {
                             if (!error) self->reply();
                           });
  }
  void close() {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  void reply() {
    const auto report = source_();
    if (!report) return;  // closes the connection without an answer
    reply_ = line_.starts_with("json") ? to_json(*report) : to_text(*report);
    asio::async_write(socket_, asio::buffer(reply_),
                      [self = shared_from_this()](error_code, std::size_t) {});
  }

  Protocol::socket socket_;
  asio::steady_timer deadline_;
  ReportSource source_;
  std::string line_;
  std::string reply_;
};

std::filesystem::path status_socket_path(const std::filesystem::path& directory,
                                         const std::string& name) {
  return directory / name / "status";
}

fabric::Result<std::unique_ptr<StatusSocket>> StatusSocket::listen(asio::io_context& context,
                                                                   std::filesystem::path path,
                                                                   ReportSource source,
                                                                   const ConnectionLimits& limits) {
  std::unique_ptr<StatusSocket> status(
      new StatusSocket(context, std::move(path), std::move(source), limits));
  if (auto made = shm::make_folder(status->path_.parent_path()); !made) {
    return tl::unexpected(made.error());
  }
  std::error_code ignored;  // binding reports the errors that matter
  std::filesystem::remove(status->path_, ignored);
  try {
    const Protocol::endpoint endpoint(status->path_.string());
    status->acceptor_.open(endpoint.protocol());
    status->acceptor_.bind(endpoint);
    status->acceptor_.listen();
  } catch (const boost::system::system_error& error) {
    return fabric::make_error(code_of_listening(error.code()),
                              fmt::format("cannot create the status socket {}: {}",
                                          status->path_.string(), error.code().message()));
  }
  status->accept();
  return status;
}

StatusSocket::~StatusSocket() {
  error_code ignored;
  acceptor_.close(ignored);
  std::error_code also_ignored;
  std::filesystem::remove(path_, also_ignored);
}

void StatusSocket::accept() {
  acceptor_.async_accept([this](error_code error, Protocol::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) return accept_after_pause(acceptor_, [this] { accept(); });
    if (shm::check_caller(socket.native_handle(), path_.parent_path())) {
      begin_session(std::move(socket));
    }
    accept();
  });
}

void StatusSocket::begin_session(Protocol::socket socket) {
  const auto session = std::make_shared<StatusSession>(std::move(socket), source_);
  if (const auto oldest = sessions_.admit(session)) oldest->close();
  session->start(patience_);
}

// Requesting a status

fabric::Result<std::string> request_status(const std::filesystem::path& socket, ReportFormat format,
                                           std::chrono::milliseconds patience) {
  const auto owner = shm::owner_of(socket);
  if (!owner) return tl::unexpected(owner.error());
  Protocol::iostream stream;
  stream.expires_after(patience);
  try {
    stream.connect(Protocol::endpoint(socket.string()));
  } catch (const boost::system::system_error& error) {  // the path is too long for a socket
    return fabric::make_error(fabric::ErrorCode::invalid_argument,
                              fmt::format("{}: {}", socket.string(), error.code().message()));
  }
  if (!stream) {
    const error_code error = stream.error();
    const bool is_forbidden = code_of_listening(error) == fabric::ErrorCode::access_denied;
    return fabric::make_error(
        is_forbidden ? fabric::ErrorCode::access_denied : fabric::ErrorCode::connection_refused,
        fmt::format("{}: {}", socket.string(), error.message()));
  }
  if (const auto checked = shm::check_server(stream.socket().native_handle(), *owner); !checked) {
    return fabric::make_error(checked.error().code,
                              fmt::format("{}: {}", socket.string(), checked.error().detail));
  }
  stream << (format == ReportFormat::json ? "json\n" : "text\n") << std::flush;
  std::ostringstream reply;
  reply << stream.rdbuf();
  if (reply.str().empty()) {
    return fabric::make_error(fabric::ErrorCode::unreachable,
                              "the server does not respond; it may be stopped or about to exit");
  }
  return reply.str();
}

}  // namespace falafel::server_program
