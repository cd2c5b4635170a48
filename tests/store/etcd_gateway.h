// In the place of etcd: answers what a test tells it to.
#pragma once

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace falafel::store_test {

// Answers a request with each of these texts, in their order, and refuses connections after that.
class Gateway {
 public:
  explicit Gateway(std::vector<std::string> answers)
      : acceptor_(context_, {boost::asio::ip::make_address("127.0.0.1"), 0}),
        endpoint_(fmt::format("127.0.0.1:{}", acceptor_.local_endpoint().port())),
        answers_(std::move(answers)),
        thread_([this] { serve(); }) {}
  explicit Gateway(std::string answer) : Gateway(std::vector{std::move(answer)}) {}

  const std::string& endpoint() const { return endpoint_; }
  // Returns the requests that the gateway received, and ends the gateway.
  std::vector<std::string> requests() {
    thread_.join();
    return requests_;
  }
  std::string request() { return requests().front(); }

 private:
  void serve() {
    for (const std::string& answer : answers_) {
      boost::asio::ip::tcp::socket socket(context_);
      acceptor_.accept(socket);
      if (&answer == &answers_.back()) acceptor_.close();
      requests_.push_back(read_request(socket));
      boost::system::error_code ignored;
      boost::asio::write(socket, boost::asio::buffer(answer), ignored);
    }
  }

  static std::string read_request(boost::asio::ip::tcp::socket& socket) {
    constexpr std::string_view length_name = "Content-Length: ";
    constexpr std::string_view end_of_header = "\r\n\r\n";
    std::string request;
    boost::system::error_code ignored;
    boost::asio::read_until(socket, boost::asio::dynamic_buffer(request), end_of_header, ignored);
    const std::size_t length_at = request.find(length_name);
    if (length_at == std::string::npos) return request;
    const std::size_t total = request.find(end_of_header) + end_of_header.size() +
                              std::stoul(request.substr(length_at + length_name.size()));
    if (request.size() < total) {
      boost::asio::read(socket, boost::asio::dynamic_buffer(request),
                        boost::asio::transfer_exactly(total - request.size()), ignored);
    }
    return request;
  }

  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::string endpoint_;
  std::vector<std::string> answers_;
  std::vector<std::string> requests_;
  std::jthread thread_;
};

inline std::string http(std::string_view body, std::string_view status = "200 OK") {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

}  // namespace falafel::store_test
