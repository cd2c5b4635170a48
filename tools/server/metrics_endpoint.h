// Exports metrics over HTTP for Prometheus: GET /metrics.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fabric/error.h"

namespace falafel::server_program {

// The text format of Prometheus, version 0.0.4, or nullopt if there is no answer in time. Runs on
// the thread that runs the context.
using MetricsSource = std::function<std::optional<std::string>()>;

class MetricsEndpoint {
 public:
  // Serves while `context` runs. `address` is ADDRESS:PORT, such as 127.0.0.1:9100 or [::1]:9100;
  // port 0 selects a free port. Errors: invalid_argument, address_in_use, access_denied.
  static fabric::Result<std::unique_ptr<MetricsEndpoint>> listen(boost::asio::io_context& context,
                                                                 const std::string& address,
                                                                 MetricsSource source);
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  // The address on which it listens, as ADDRESS:PORT.
  std::string address() const;

 private:
  MetricsEndpoint(boost::asio::ip::tcp::acceptor acceptor, MetricsSource source)
      : acceptor_(std::move(acceptor)), source_(std::move(source)) {}
  void accept();

  boost::asio::ip::tcp::acceptor acceptor_;
  MetricsSource source_;
};

}  // namespace falafel::server_program
