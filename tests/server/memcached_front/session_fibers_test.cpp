// Several connections at once: what one of them waits for, or takes long for, does not hold up the
// others.
#include "tools/server/memcached_front/session_fibers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "fabric/realtime/host.h"
#include "fabric/shm/process.h"
#include "tools/server/memcached_front/statistics.h"
#include "tools/server/memcached_front/storage.h"

namespace falafel::memcached_front {
namespace {

namespace asio = boost::asio;
using Local = asio::local::stream_protocol;
using engine::Answer;

// Calls functions of the test; keeps nothing.
class ScriptedStorage final : public Storage {
 public:
  Answer get(std::string_view key,
             const std::function<void(const StoredValue&)>& /*use*/) override {
    return on_get ? on_get(key) : Answer::not_found;
  }
  Answer set(std::string_view /*key*/, std::string_view /*value*/,
             std::int64_t /*exptime*/) override {
    return on_set ? on_set() : Answer::stored;
  }
  Answer compare_and_set(std::string_view /*key*/, const engine::Condition& /*condition*/,
                         std::string_view /*value*/,
                         std::optional<std::int64_t> /*exptime*/) override {
    return Answer::stored;
  }
  Answer remove(std::string_view /*key*/) override { return Answer::not_found; }
  std::optional<Answer> for_each_key(
      const std::function<void(std::string_view, const StoredValue&)>& /*visit*/) override {
    return std::nullopt;
  }

  std::function<Answer(std::string_view key)> on_get;
  std::function<Answer()> on_set;
};

// A front without a store. Its connections are pairs of sockets.
class SessionFibersTest : public testing::Test {
 protected:
  SessionFibersTest() {
    process_ = shm::Process::create({.directory = std::filesystem::temp_directory_path(),
                                     .memory_limit_bytes = 1 << 20})
                   .value();
    host_ = process_->create_host("front").value();
  }

  // Returns the client's end.
  std::unique_ptr<Local::socket> connect() {
    auto client = std::make_unique<Local::socket>(clients_);
    Local::socket server(context_);
    asio::local::connect_pair(*client, server);
    ++statistics_.current_connections;
    std::make_shared<Session>(
        Session::Socket(std::move(server)), parser_options_,
        [this](std::shared_ptr<Session> session) { fibers_.add(std::move(session)); }, storage_,
        statistics_)
        ->start();
    return client;
  }
  static void send(Local::socket& client, std::string_view bytes) {
    asio::write(client, asio::buffer(bytes));
  }
  static std::string receive(Local::socket& client, std::size_t length) {
    std::string answer(length, ' ');
    asio::read(client, asio::buffer(answer));
    return answer;
  }
  // Runs the front on a fiber until the condition holds.
  void run_until(
      const std::function<bool()>& condition,
      const std::function<bool()>& goes_on = [] { return true; }) {
    host_->run([&] {
      while (!condition()) {
        if (fibers_.is_empty()) context_.run_one();
        if (!fibers_.is_empty()) fibers_.run(*host_, goes_on);
      }
    });
  }

  std::unique_ptr<shm::Process> process_;
  std::unique_ptr<fabric::RealTimeHost> host_;
  ParserOptions parser_options_;
  Statistics statistics_;
  ScriptedStorage storage_;
  asio::io_context clients_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  SessionFibers fibers_{context_, 16};
};

TEST_F(SessionFibersTest, ASetThatWaitsHoldsUpNoOtherConnection) {
  const auto event = host_->create_event();
  bool has_been_asked = false;
  storage_.on_set = [&] {
    while (!has_been_asked) event->wait(fabric::never_ns);
    return Answer::stored;
  };
  storage_.on_get = [&](std::string_view) {
    has_been_asked = true;
    event->notify_all();
    return Answer::not_found;
  };
  const auto waiting = connect();
  const auto other = connect();
  send(*waiting, "set key 0 0 1\r\nv\r\n");
  send(*other, "get key\r\n");
  run_until([&] { return statistics_.sets == 1; });
  EXPECT_EQ(receive(*other, 5), "END\r\n");
  EXPECT_EQ(receive(*waiting, 8), "STORED\r\n");
}

TEST_F(SessionFibersTest, ALongLineHoldsUpNoOtherConnection) {
  constexpr int keys = 200'000;
  const auto first = connect();
  const auto other = connect();
  int looked_up = 0;
  int looked_up_before_other = 0;
  storage_.on_get = [&](std::string_view key) {
    if (key == "other") looked_up_before_other = looked_up;
    if (key == "long" && ++looked_up == keys / 2) send(*other, "get other\r\n");
    return Answer::not_found;
  };
  const std::jthread sender([&] {
    std::string line = "get";
    for (int count = 0; count < keys; ++count) line += " long";
    send(*first, line + "\r\n");
  });
  run_until([&] { return looked_up == keys; });
  EXPECT_EQ(receive(*other, 5), "END\r\n");
  EXPECT_EQ(receive(*first, 5), "END\r\n");
  constexpr int turns = 2;
  EXPECT_GE(looked_up_before_other, keys / 2);
  EXPECT_LE(looked_up_before_other,
            keys / 2 + turns * static_cast<int>(Session::requests_per_turn));
}

TEST_F(SessionFibersTest, ARequestThatFindsTheStoreGoneIsRepeatedOnce) {
  int sets = 0;
  storage_.on_set = [&] { return ++sets == 1 ? Answer::disconnected : Answer::stored; };
  const auto client = connect();
  send(*client, "set key 0 0 1\r\nv\r\n");
  run_until([&] { return sets == 1 && !fibers_.is_empty(); }, [&] { return sets == 0; });
  run_until([&] { return sets == 2; });
  EXPECT_EQ(receive(*client, 8), "STORED\r\n");
  storage_.on_set = [&] {
    ++sets;
    return Answer::disconnected;
  };
  send(*client, "set key 0 0 1\r\nv\r\n");
  run_until([&] { return sets == 4; });
  constexpr std::string_view error =
      "SERVER_ERROR the store is not connected; nothing was changed\r\n";
  EXPECT_EQ(receive(*client, error.size()), error);
}

TEST_F(SessionFibersTest, WithoutAStoreRequestsAreAnswered) {
  storage_.on_set = [] { return Answer::disconnected; };
  const auto client = connect();
  send(*client, "set key 0 0 1\r\nv\r\nversion\r\n");
  while (fibers_.is_empty()) context_.run_one();
  fibers_.run_disconnected();
  constexpr std::string_view error =
      "SERVER_ERROR the store is not connected; nothing was changed\r\n";
  EXPECT_EQ(receive(*client, error.size()), error);
}

}  // namespace
}  // namespace falafel::memcached_front
