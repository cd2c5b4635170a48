// A listener whose process has no file descriptors left: callers wait, and so does the listener.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fabric/stream/handshake.h"
#include "fabric/stream/host.h"
#include "tests/hang_limit.h"
#include "tests/stream/service_files.h"

namespace falafel::stream_test {
namespace {

using boost::asio::ip::tcp;

const fabric::Address server_address{.host = "server", .service = 7};
constexpr std::uint64_t pause_ns = 10'000'000;  // of the listener, after each attempt

// While it exists, the process can open no further file.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = ::dup(STDERR_FILENO);
    ::close(lowest_free);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(lowest_free);
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

class StreamListener : public testing::Test {
 protected:
  StreamListener() {
    std::string name = (std::filesystem::temp_directory_path() / "falafel.XXXXXX").native();
    folder_ = ::mkdtemp(name.data());
  }
  ~StreamListener() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(StreamListener, WaitsWhileThereAreNoDescriptors) {
  ServiceFiles services(folder_);
  const auto host = stream::create_host(
      {.name = "server", .listening_address = "127.0.0.1", .services = &services});
  host->run_program([&] {
    const auto listener = host->device(0).listen(server_address.service);
    ASSERT_TRUE(listener) << listener.error().detail;
    boost::asio::io_context reactor;
    tcp::socket caller(reactor);
    caller.connect(
        {boost::asio::ip::make_address("127.0.0.1"), services.find_port(server_address).value()});
    const stream::Greeting offer = stream::make_greeting(stream::GreetingKind::offer, {});
    boost::asio::write(caller, boost::asio::buffer(&offer, sizeof offer));
    {
      const NoDescriptors none;
      const std::uint64_t begin_ns = host->now_ns();
      EXPECT_EQ((*listener)->accept(begin_ns + 50 * pause_ns), nullptr);
      const std::uint64_t most_attempts = 1 + (host->now_ns() - begin_ns) / pause_ns;
      EXPECT_GT(host->descriptor_shortage()->count(), 0U);
      EXPECT_LE(host->descriptor_shortage()->count(), most_attempts) << "it does not pause";
    }
    EXPECT_NE((*listener)->accept(host->now_ns() + hang_limit_ns), nullptr);
  });
}

// Without descriptors for its callers, the listener could serve nobody.
TEST_F(StreamListener, DisconnectsTheOldestOfTooManySilentCallers) {
  ServiceFiles services(folder_);
  const auto host = stream::create_host(
      {.name = "server", .listening_address = "127.0.0.1", .services = &services});
  host->run_program([&] {
    const auto listener = host->device(0).listen(server_address.service).value();
    const tcp::endpoint place{boost::asio::ip::make_address("127.0.0.1"),
                              services.find_port(server_address).value()};
    boost::asio::io_context reactor;
    std::vector<tcp::socket> silent;
    for (int count = 0; count < 65; ++count) silent.emplace_back(reactor).connect(place);
    tcp::socket caller(reactor);
    caller.connect(place);
    const stream::Greeting offer = stream::make_greeting(stream::GreetingKind::offer, {});
    boost::asio::write(caller, boost::asio::buffer(&offer, sizeof offer));
    EXPECT_NE(listener->accept(host->now_ns() + hang_limit_ns), nullptr);
    char nothing = 0;
    boost::system::error_code error;
    silent.front().read_some(boost::asio::buffer(&nothing, 1), error);
    EXPECT_EQ(error, boost::asio::error::eof);
    silent.back().non_blocking(true);
    silent.back().read_some(boost::asio::buffer(&nothing, 1), error);
    EXPECT_EQ(error, boost::asio::error::would_block);
  });
}

}  // namespace
}  // namespace falafel::stream_test
