// Provides the server's status on a UNIX-domain socket, `<directory>/<name>/status`. A client that
// connects and sends a line, `text` or `json`, receives a report. Both sides check whose socket it
// is (fabric/shm/trust.h).
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "fabric/error.h"
#include "fabric/realtime/share.h"
#include "tools/server/connection_limits.h"
#include "tools/server/server_report.h"

namespace falafel::server_program {

std::filesystem::path status_socket_path(const std::filesystem::path& directory,
                                         const std::string& name);

using ReportSource = std::function<std::optional<ServerReport>()>;

class StatusSession;

class StatusSocket {
 public:
  // Serves while `context` runs. Replaces an existing socket, because the caller owns the name.
  // Errors: access_denied; invalid_argument (the path is too long, or its directories cannot be
  // made).
  static fabric::Result<std::unique_ptr<StatusSocket>> listen(boost::asio::io_context& context,
                                                              std::filesystem::path path,
                                                              ReportSource source,
                                                              const ConnectionLimits& limits = {});
  // Removes the socket.
  ~StatusSocket();
  StatusSocket(const StatusSocket&) = delete;
  StatusSocket& operator=(const StatusSocket&) = delete;

 private:
  using Protocol = boost::asio::local::stream_protocol;

  StatusSocket(boost::asio::io_context& context, std::filesystem::path path, ReportSource source,
               const ConnectionLimits& limits)
      : acceptor_(context),
        path_(std::move(path)),
        source_(std::move(source)),
        patience_(limits.patience),
        sessions_(limits.most) {}
  void accept();
  void begin_session(Protocol::socket socket);

  Protocol::acceptor acceptor_;
  std::filesystem::path path_;
  ReportSource source_;
  std::chrono::milliseconds patience_;
  fabric::Share<StatusSession> sessions_;
};

enum class ReportFormat : bool { text, json };

// Requests a report from the server at that socket. Errors: connection_refused (no listener),
// access_denied, unreachable (no answer within `patience`).
fabric::Result<std::string> request_status(const std::filesystem::path& socket, ReportFormat format,
                                           std::chrono::milliseconds patience);

}  // namespace falafel::server_program
