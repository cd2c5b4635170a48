// Exports metrics over HTTP for Prometheus: GET /metrics.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fabric/error.h"
#include "fabric/realtime/share.h"
#include "tools/server/connection_limits.h"

namespace falafel::server_program {

// The text format of Prometheus, version 0.0.4, or nullopt if there is no answer in time. Runs on
// the thread that runs the context.
using MetricsSource = std::function<std::optional<std::string>()>;

class MetricsSession;

class MetricsEndpoint {
 public:
  // Serves while `context` runs. `address` is ADDRESS:PORT, such as 127.0.0.1:9100 or [::1]:9100;
  // port 0 selects a free port. Errors: invalid_argument, address_in_use, access_denied.
  static fabric::Result<std::unique_ptr<MetricsEndpoint>> listen(
      boost::asio::io_context& context, const std::string& address, MetricsSource source,
      const ConnectionLimits& limits = {});
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  // The address on which it listens, as ADDRESS:PORT.
  std::string address() const;

 private:
  MetricsEndpoint(boost::asio::ip::tcp::acceptor acceptor, MetricsSource source,
                  const ConnectionLimits& limits)
      : acceptor_(std::move(acceptor)),
        source_(std::move(source)),
        patience_(limits.patience),
        sessions_(limits.most) {}
  void accept();
  void begin_session(boost::asio::ip::tcp::socket socket);

  boost::asio::ip::tcp::acceptor acceptor_;
  MetricsSource source_;
  std::chrono::milliseconds patience_;
  fabric::Share<MetricsSession> sessions_;
};

}  // namespace falafel::server_program
