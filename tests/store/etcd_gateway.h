// In the place of etcd: answers what a test tells it to.
#pragma once

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <string_view>
#include <thread>

namespace falafel::store_test {

// Answers one request with these bytes, and refuses the connections after it.
class Gateway {
 public:
  explicit Gateway(std::string answer)
      : acceptor_(context_, {boost::asio::ip::make_address("127.0.0.1"), 0}),
        endpoint_(fmt::format("127.0.0.1:{}", acceptor_.local_endpoint().port())),
        answer_(std::move(answer)),
        thread_([this] { serve(); }) {}

  const std::string& endpoint() const { return endpoint_; }
  // Returns the request that the gateway received, and ends the gateway.
  std::string request() {
    thread_.join();
    return request_;
  }

 private:
  void serve() {
    boost::asio::ip::tcp::socket socket(context_);
    acceptor_.accept(socket);
    acceptor_.close();
    boost::system::error_code ignored;
    boost::asio::read_until(socket, boost::asio::dynamic_buffer(request_), "\r\n\r\n{", ignored);
    boost::asio::write(socket, boost::asio::buffer(answer_), ignored);
  }

  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::string endpoint_;
  std::string answer_;
  std::string request_;
  std::jthread thread_;
};

inline std::string http(std::string_view body, std::string_view status = "200 OK") {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

}  // namespace falafel::store_test
