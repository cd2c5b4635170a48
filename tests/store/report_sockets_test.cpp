// Clients that connect to the sockets for reports and say nothing: they keep nobody out, and do not
// stay.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tools/server/metrics_endpoint.h"
#include "tools/server/status_socket.h"

namespace falafel::server_program {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Local = asio::local::stream_protocol;
using Tcp = asio::ip::tcp;
using std::chrono::hours;
using std::chrono::milliseconds;

constexpr int share = 4;

// Both sockets, served by a thread.
class Reports {
 public:
  explicit Reports(const ConnectionLimits& limits) {
    std::string name = (std::filesystem::temp_directory_path() / "falafel.XXXXXX").native();
    folder_ = ::mkdtemp(name.data());
    const auto count = [this] {
      ++requests_;
      return std::nullopt;
    };
    status_ = StatusSocket::listen(context_, status_path(), count, limits).value();
    metrics_ = MetricsEndpoint::listen(
                   context_, "127.0.0.1:0", [] { return std::string("metrics\n"); }, limits)
                   .value();
    thread_ = std::thread([this] { context_.run(); });
  }
  ~Reports() {
    context_.stop();
    thread_.join();
    status_.reset();
    std::filesystem::remove_all(folder_);
  }
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;

  // Requests to the status socket, which closes the connection because there is no report.
  int requests() const { return requests_; }

  Local::endpoint status_place() const { return {status_path().string()}; }
  Tcp::endpoint metrics_place() const {
    const std::string address = metrics_->address();
    const std::string port = address.substr(address.rfind(':') + 1);
    return {asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(std::stoi(port))};
  }

 private:
  std::filesystem::path status_path() const { return status_socket_path(folder_, "server"); }

  std::atomic<int> requests_ = 0;
  std::filesystem::path folder_;
  asio::io_context context_;
  std::unique_ptr<StatusSocket> status_;
  std::unique_ptr<MetricsEndpoint> metrics_;
  std::thread thread_;
};

// Waits until the other side has closed the connection.
template <typename Socket>
bool is_closed_by_the_other_side(Socket& socket) {
  char nothing = 0;
  error_code error;
  socket.read_some(asio::buffer(&nothing, 1), error);
  return error == asio::error::eof || error == asio::error::connection_reset;
}

template <typename Protocol>
std::vector<typename Protocol::socket> connect(asio::io_context& context, int count,
                                               const typename Protocol::endpoint& place) {
  std::vector<typename Protocol::socket> sockets;
  for (int number = 0; number < count; ++number) sockets.emplace_back(context).connect(place);
  return sockets;
}

TEST(ReportSockets, CloseTheOldestOfTooManyConnections) {
  const Reports reports({.most = share, .patience = hours(1)});
  asio::io_context context;
  auto local = connect<Local>(context, share + 1, reports.status_place());
  EXPECT_TRUE(is_closed_by_the_other_side(local.front()));
  auto tcp = connect<Tcp>(context, share + 1, reports.metrics_place());
  EXPECT_TRUE(is_closed_by_the_other_side(tcp.front()));
  asio::write(local.back(), asio::buffer(std::string("json\n")));
  EXPECT_TRUE(is_closed_by_the_other_side(local.back()));
  EXPECT_EQ(reports.requests(), 1);
}

TEST(ReportSockets, CloseSilentConnections) {
  const Reports reports({.most = share, .patience = milliseconds(10)});
  asio::io_context context;
  auto local = connect<Local>(context, 1, reports.status_place());
  EXPECT_TRUE(is_closed_by_the_other_side(local.front()));
  auto tcp = connect<Tcp>(context, 1, reports.metrics_place());
  EXPECT_TRUE(is_closed_by_the_other_side(tcp.front()));
}

}  // namespace
}  // namespace falafel::server_program
