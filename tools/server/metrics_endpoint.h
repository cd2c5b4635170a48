// Exports the server's metrics over HTTP for Prometheus: GET /metrics.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "fabric/error.h"
#include "tools/server/status_socket.h"

namespace falafel::server_program {

class MetricsEndpoint {
 public:
  // Serves while `context` runs. `address` is ADDRESS:PORT, such as 127.0.0.1:9100 or [::1]:9100;
  // port 0 selects a free port. Errors: invalid_argument, address_in_use, access_denied.
  static fabric::Result<std::unique_ptr<MetricsEndpoint>> listen(boost::asio::io_context& context,
                                                                 const std::string& address,
                                                                 ReportSource source);
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  // The address on which it listens, as ADDRESS:PORT.
  std::string address() const;

 private:
  MetricsEndpoint(boost::asio::ip::tcp::acceptor acceptor, ReportSource source)
      : acceptor_(std::move(acceptor)), source_(std::move(source)) {}
  void accept();

  boost::asio::ip::tcp::acceptor acceptor_;
  ReportSource source_;
};

}  // namespace falafel::server_program
