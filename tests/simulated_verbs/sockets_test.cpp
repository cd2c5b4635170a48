// Programs with sockets: what they send arrives, what goes wrong has the errors of Linux, and
// whatever waits lets others run.
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulated_verbs/programs_of_test.h"

// Compilers call these when they know the size of the buffer (_FORTIFY_SOURCE).
extern "C" {
// NOLINTBEGIN(readability-identifier-naming)
ssize_t __read_chk(int descriptor, void* buffer, std::size_t bytes, std::size_t buffer_bytes);
ssize_t __recv_chk(int descriptor, void* buffer, std::size_t bytes, std::size_t buffer_bytes,
                   int flags);
// NOLINTEND(readability-identifier-naming)
}

namespace falafel::simulated_verbs {
namespace {

constexpr std::uint16_t port = 18'515;

sockaddr_in address_of(const char* host, std::uint16_t of_port = port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(of_port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (host != nullptr && getaddrinfo(host, nullptr, &hints, &found) == 0) {
    address.sin_addr = reinterpret_cast<sockaddr_in*>(found->ai_addr)->sin_addr;
    freeaddrinfo(found);
  }
  return address;
}

template <typename Call>
int call_with(const Call& call, int descriptor, const sockaddr_in& address) {
  return call(descriptor, reinterpret_cast<const sockaddr*>(&address), socklen_t{sizeof address});
}

int listen_on(std::uint16_t of_port = port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (call_with(bind, descriptor, address_of(nullptr, of_port)) != 0) return -1;
  return listen(descriptor, 8) == 0 ? descriptor : -1;
}

int connect_to(const char* host) {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  return call_with(connect, descriptor, address_of(host)) == 0 ? descriptor : -1;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string read_until_end(int descriptor, std::size_t piece_bytes) {
  std::string text;
  std::vector<char> piece(piece_bytes);
  for (;;) {
    const ssize_t count = read(descriptor, piece.data(), piece.size());
    if (count <= 0) return count == 0 ? text : "error";
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

std::string read_bytes(int descriptor, std::size_t bytes, std::size_t piece_bytes) {
  std::string text(bytes, '?');
  std::size_t read_so_far = 0;
  while (read_so_far < bytes) {
    const ssize_t count =
        read(descriptor, text.data() + read_so_far, std::min(piece_bytes, bytes - read_so_far));
    if (count <= 0) return "error";
    read_so_far += static_cast<std::size_t>(count);
  }
  return text;
}

std::string long_text(std::uint32_t client) {
  std::string text;
  for (int number = 0; text.size() < 5'000; ++number) {
    text += std::to_string(client) + ":" + std::to_string(number) + " ";
  }
  return text;
}

// -------------------------------------------------------------------------------------------------
// Contents

int echo_server(int clients, std::size_t bytes) {
  const int listening = listen_on();
  FALAFEL_REQUIRE(listening >= 1'000'000);
  for (int served = 0; served < clients; ++served) {
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    const int connection = accept(listening, reinterpret_cast<sockaddr*>(&peer), &length);
    FALAFEL_REQUIRE(connection >= 0 && length == sizeof peer);
    FALAFEL_REQUIRE(ntohl(peer.sin_addr.s_addr) >= 0x0a000002);
    FALAFEL_REQUIRE(ntohs(peer.sin_port) >= 32'768);
    FALAFEL_REQUIRE(write_all(connection, read_bytes(connection, bytes, 700)));
    FALAFEL_REQUIRE(close(connection) == 0);
  }
  return close(listening);
}

int echo_client(std::uint32_t client) {
  const int descriptor = connect_to("server");
  FALAFEL_REQUIRE(descriptor >= 0);
  const std::string text = long_text(client);
  FALAFEL_REQUIRE(write_all(descriptor, text));
  FALAFEL_REQUIRE(read_until_end(descriptor, 333) == text);
  return close(descriptor);
}

void add_echo(Programs& programs) {
  programs.server("server", [] { return echo_server(2, long_text(0).size()); });
  programs.clients(2, echo_client);
}

TEST(Sockets, EchoComesBackWhole) { expect_success(add_echo); }

TEST(Sockets, RunsAreRepeatable) { expect_same_run_twice(add_echo); }

TEST(Sockets, HalfClosedConnectionStillAnswers) {
  expect_success([](Programs& programs) {
    programs.client("server", [] {
      const int connection = accept(listen_on(), nullptr, nullptr);
      const std::string request = read_until_end(connection, 16);
      FALAFEL_REQUIRE(request == "request");
      FALAFEL_REQUIRE(write_all(connection, "answer"));
      return close(connection);
    });
    programs.client("client", [] {
      const int descriptor = connect_to("server");
      FALAFEL_REQUIRE(write_all(descriptor, "request"));
      FALAFEL_REQUIRE(shutdown(descriptor, SHUT_WR) == 0);
      FALAFEL_REQUIRE(write(descriptor, "x", 1) == -1 && errno == EPIPE);
      FALAFEL_REQUIRE(read_until_end(descriptor, 16) == "answer");
      return close(descriptor);
    });
  });
}

// The end of a process closes its sockets, and what it has sent arrives.
TEST(Sockets, ExitDeliversWhatWasSent) {
  expect_success([](Programs& programs) {
    programs.server("server", [] {
      const int connection = accept(listen_on(), nullptr, nullptr);
      return write_all(connection, long_text(7)) ? 0 : 1;
    });
    programs.client("client", [] {
      FALAFEL_REQUIRE(read_until_end(connect_to("server"), 1'000) == long_text(7));
      return 0;
    });
  });
}

// The kernels hold both messages, and neither program reads before it has written.
TEST(Sockets, BothSidesMayWriteFirst) {
  expect_success([](Programs& programs) {
    const auto exchange = [](int descriptor) {
      FALAFEL_REQUIRE(write_all(descriptor, std::string(1'000, 'a')));
      FALAFEL_REQUIRE(read_bytes(descriptor, 1'000, 1'000) == std::string(1'000, 'a'));
      return close(descriptor);
    };
    programs.client("server", [=] { return exchange(accept(listen_on(), nullptr, nullptr)); });
    programs.client("client", [=] { return exchange(connect_to("server")); });
  });
}

TEST(Sockets, PartsAreGatheredAndScattered) {
  expect_success([](Programs& programs) {
    programs.client("server", [] {
      const int connection = accept(listen_on(), nullptr, nullptr);
      std::array<char, 3> first{};
      std::array<char, 8> second{};
      const std::array<iovec, 2> parts{iovec{first.data(), first.size()},
                                       iovec{second.data(), second.size()}};
      std::array<char, 4> peeked{};
      FALAFEL_REQUIRE(recv(connection, peeked.data(), 4, MSG_PEEK | MSG_WAITALL) == 4);
      FALAFEL_REQUIRE(readv(connection, parts.data(), 2) == 6);
      FALAFEL_REQUIRE(std::string_view(first.data(), 3) == "abc");
      FALAFEL_REQUIRE(second[0] == 'd');
      return close(connection);
    });
    programs.client("client", [] {
      const int descriptor = connect_to("server");
      std::string begin = "ab";
      std::string end = "cdef";
      const std::array<iovec, 2> parts{iovec{begin.data(), 2}, iovec{end.data(), 4}};
      FALAFEL_REQUIRE(writev(descriptor, parts.data(), 2) == 6);
      FALAFEL_REQUIRE(read(descriptor, begin.data(), 1) == 0 || errno == ECONNRESET);
      return close(descriptor);
    });
  });
}

// -------------------------------------------------------------------------------------------------
// Waiting

TEST(Sockets, ReadLetsOthersRun) {
  expect_success([](Programs& programs) {
    programs.client("server", [] {
      const int connection = accept(listen_on(), nullptr, nullptr);
      char byte = 0;
      FALAFEL_REQUIRE(__read_chk(connection, &byte, 1, 1) == 1 && byte == 'x');
      FALAFEL_REQUIRE(__recv_chk(connection, &byte, 1, 1, 0) == 0);
      return close(connection);
    });
    programs.client("client", [] {
      const int descriptor = connect_to("server");
      sleep(2);
      FALAFEL_REQUIRE(write(descriptor, "x", 1) == 1);
      sleep(2);
      return close(descriptor);
    });
  });
}

std::uint64_t monotonic_ms() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000 +
         static_cast<std::uint64_t>(time.tv_nsec) / 1'000'000;
}

TEST(Sockets, PollWaitsInVirtualTime) {
  expect_success([](Programs& programs) {
    programs.client("server", [] {
      const int listening = listen_on();
      pollfd polled{.fd = listening, .events = POLLIN, .revents = 0};
      FALAFEL_REQUIRE(poll(&polled, 1, 0) >= 0);
      FALAFEL_REQUIRE(poll(&polled, 1, -1) == 1 && polled.revents == POLLIN);
      const int connection = accept(listening, nullptr, nullptr);
      std::array<pollfd, 2> both{pollfd{.fd = listening, .events = POLLIN, .revents = 0},
                                 pollfd{.fd = connection, .events = POLLIN, .revents = 0}};
      const std::uint64_t before_ms = monotonic_ms();
      FALAFEL_REQUIRE(poll(both.data(), 2, 3'600'000) == 0);
      FALAFEL_REQUIRE(monotonic_ms() - before_ms >= 3'600'000);
      FALAFEL_REQUIRE(write(connection, "x", 1) == 1);
      FALAFEL_REQUIRE(poll(both.data(), 2, -1) == 1 && both[1].revents == POLLIN);
      char byte = 0;
      FALAFEL_REQUIRE(read(connection, &byte, 1) == 0);
      return close(connection);
    });
    programs.client("client", [] {
      const int descriptor = connect_to("server");
      pollfd polled{.fd = descriptor, .events = POLLIN | POLLOUT, .revents = 0};
      FALAFEL_REQUIRE(poll(&polled, 1, -1) == 1 && (polled.revents & POLLOUT) != 0);
      polled.events = POLLIN;
      FALAFEL_REQUIRE(poll(&polled, 1, -1) == 1 && polled.revents == POLLIN);
      char byte = 0;
      FALAFEL_REQUIRE(read(descriptor, &byte, 1) == 1);
      FALAFEL_REQUIRE(close(descriptor) == 0);
      FALAFEL_REQUIRE(poll(&polled, 1, -1) == 1 && polled.revents == POLLNVAL);
      return 0;
    });
  });
}

TEST(Sockets, NonblockingSocketsAskAgain) {
  expect_success([](Programs& programs) {
    programs.client("server", [] {
      const int listening = listen_on();
      FALAFEL_REQUIRE(fcntl(listening, F_SETFL, fcntl(listening, F_GETFL) | O_NONBLOCK) == 0);
      int connection = -1;
      while (connection < 0) {
        connection = accept4(listening, nullptr, nullptr, SOCK_NONBLOCK);
        FALAFEL_REQUIRE(connection >= 0 || errno == EAGAIN);
      }
      FALAFEL_REQUIRE((fcntl(connection, F_GETFL) & O_NONBLOCK) != 0);
      char byte = 0;
      ssize_t count = -1;
      while (count < 0) {
        count = recv(connection, &byte, 1, 0);
        FALAFEL_REQUIRE(count == 1 || errno == EAGAIN);
      }
      return close(connection);
    });
    programs.client("client", [] {
      const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      if (call_with(connect, descriptor, address_of("server")) != 0) {
        FALAFEL_REQUIRE(errno == EINPROGRESS);
      }
      pollfd polled{.fd = descriptor, .events = POLLOUT, .revents = 0};
      FALAFEL_REQUIRE(poll(&polled, 1, -1) == 1 && polled.revents == POLLOUT);
      int error = -1;
      socklen_t length = sizeof error;
      FALAFEL_REQUIRE(getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0);
      FALAFEL_REQUIRE(error == 0 && length == sizeof error);
      FALAFEL_REQUIRE(send(descriptor, "x", 1, MSG_NOSIGNAL) == 1);
      return close(descriptor);
    });
  });
}

// A kernel accepts connections while the program does something else.
TEST(Sockets, AllConnectBeforeAnyoneAccepts) {
  expect_success([](Programs& programs) {
    programs.clients(3, [](std::uint32_t own) {
      const int listening = listen_on();
      std::array<int, 3> outgoing{};
      for (std::uint32_t other = 0; other < 3; ++other) {
        outgoing[other] = connect_to(("client-" + std::to_string(other)).c_str());
        const char number = static_cast<char>('0' + own);
        FALAFEL_REQUIRE(write(outgoing[other], &number, 1) == 1);
      }
      int sum = 0;
      for (int count = 0; count < 3; ++count) {
        const int incoming = accept(listening, nullptr, nullptr);
        char number = 0;
        FALAFEL_REQUIRE(read(incoming, &number, 1) == 1);
        sum += number - '0';
        close(incoming);
      }
      FALAFEL_REQUIRE(sum == 3);
      std::ranges::for_each(outgoing, [](int descriptor) { close(descriptor); });
      return close(listening);
    });
  });
}

// -------------------------------------------------------------------------------------------------
// Errors

TEST(Sockets, NobodyListens) {
  expect_success([](Programs& programs) {
    programs.server("server", [] { return 0; });
    programs.client("client", [] {
      FALAFEL_REQUIRE(connect_to("server") == -1 && errno == ECONNREFUSED);
      const std::uint64_t before_ms = monotonic_ms();
      FALAFEL_REQUIRE(connect_to("server") == -1 && errno == ECONNREFUSED);
      FALAFEL_REQUIRE(monotonic_ms() - before_ms < 60'000);
      FALAFEL_REQUIRE(connect_to("10.0.0.99") == -1 && errno == EHOSTUNREACH);
      return 0;
    });
  });
}

TEST(Sockets, UnreadDataResetsTheConnection) {
  expect_success([](Programs& programs) {
    programs.client("server", [] {
      const int connection = accept(listen_on(), nullptr, nullptr);
      pollfd polled{.fd = connection, .events = POLLIN, .revents = 0};
      FALAFEL_REQUIRE(poll(&polled, 1, -1) == 1);
      return close(connection);
    });
    programs.client("client", [] {
      const int descriptor = connect_to("server");
      FALAFEL_REQUIRE(write_all(descriptor, "nobody reads this"));
      char byte = 0;
      FALAFEL_REQUIRE(read(descriptor, &byte, 1) == -1 && errno == ECONNRESET);
      FALAFEL_REQUIRE(read(descriptor, &byte, 1) == 0);
      FALAFEL_REQUIRE(write(descriptor, "x", 1) == -1 && errno == EPIPE);
      return close(descriptor);
    });
  });
}

TEST(Sockets, WrongCallsHaveTheErrorsOfLinux) {
  expect_success(
      [](Programs& programs) {
        programs.client("host", [] {
          char byte = 0;
          FALAFEL_REQUIRE(socket(AF_INET6, SOCK_STREAM, 0) == -1 && errno == EAFNOSUPPORT);
          FALAFEL_REQUIRE(socket(AF_INET, SOCK_DGRAM, 0) == -1 && errno == EPROTONOSUPPORT);
          const int descriptor = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
          FALAFEL_REQUIRE(read(descriptor, &byte, 1) == -1 && errno == ENOTCONN);
          FALAFEL_REQUIRE(write(descriptor, &byte, 1) == -1 && errno == EPIPE);
          FALAFEL_REQUIRE(accept(descriptor, nullptr, nullptr) == -1 && errno == EINVAL);
          FALAFEL_REQUIRE(listen_on() >= 0);
          FALAFEL_REQUIRE(call_with(bind, descriptor, address_of(nullptr)) == -1);
          FALAFEL_REQUIRE(errno == EADDRINUSE);
          FALAFEL_REQUIRE(call_with(bind, descriptor, address_of("10.0.0.2")) == -1);
          FALAFEL_REQUIRE(errno == EADDRNOTAVAIL);
          FALAFEL_REQUIRE(close(descriptor) == 0);
          FALAFEL_REQUIRE(close(descriptor) == -1 && errno == EBADF);
          FALAFEL_REQUIRE(read(descriptor, &byte, 1) == -1 && errno == EBADF);
          FALAFEL_REQUIRE(fcntl(descriptor, F_GETFL) == -1 && errno == EBADF);
          return 0;
        });
      },
      {}, 5);
}

TEST(Sockets, OptionsAndNamesAreKept) {
  expect_success(
      [](Programs& programs) {
        programs.client("host", [] {
          const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
          const int yes = 1;
          int value = 0;
          socklen_t length = sizeof value;
          FALAFEL_REQUIRE(setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0);
          FALAFEL_REQUIRE(getsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &value, &length) == 0);
          FALAFEL_REQUIRE(value == 1);
          FALAFEL_REQUIRE(call_with(bind, descriptor, address_of(nullptr, 0)) == 0);
          sockaddr_in own{};
          length = sizeof own;
          FALAFEL_REQUIRE(getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &length) == 0);
          FALAFEL_REQUIRE(ntohs(own.sin_port) == 32'768);
          FALAFEL_REQUIRE(getpeername(descriptor, reinterpret_cast<sockaddr*>(&own), &length) ==
                          -1);
          FALAFEL_REQUIRE(errno == ENOTCONN);
          std::array<char, 16> name{};
          FALAFEL_REQUIRE(gethostname(name.data(), name.size()) == 0);
          FALAFEL_REQUIRE(std::string_view(name.data()) == "host");
          FALAFEL_REQUIRE(ntohl(address_of("host").sin_addr.s_addr) == 0x0a000001);
          addrinfo* found = nullptr;
          FALAFEL_REQUIRE(getaddrinfo("elsewhere", "1", nullptr, &found) == EAI_NONAME);
          FALAFEL_REQUIRE(getpid() == 1001);
          return close(descriptor);
        });
      },
      {}, 5);
}

// Programs that time out and go on: whatever strikes, nothing of the simulation breaks.
TEST(Sockets, FaultsEndConnectionsOnly) {
  expect_success(
      [](Programs& programs) {
        programs.server("server", [] {
          const int listening = listen_on();
          for (;;) {
            const int connection = accept(listening, nullptr, nullptr);
            const timeval timeout{.tv_sec = 1, .tv_usec = 0};
            setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
            write_all(connection, read_bytes(connection, 2'000, 2'000));
            close(connection);
          }
          return 0;
        });
        programs.clients(2, [](std::uint32_t client) {
          const int descriptor = connect_to("server");
          const timeval timeout{.tv_sec = 1, .tv_usec = 0};
          setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
          if (descriptor < 0) return 0;
          const std::string text = long_text(client).substr(0, 2'000);
          if (!write_all(descriptor, text)) return 0;
          const std::string answer = read_bytes(descriptor, 2'000, 100);
          FALAFEL_REQUIRE(answer == text || answer == "error");
          return close(descriptor);
        });
      },
      {.faults = check::all_faults()});
}

}  // namespace
}  // namespace falafel::simulated_verbs
