// A service of requests and answers over datagrams. A client may have as many requests unanswered
// as it has credits, so they find free buffers at the server. eRPC (Kalia, Kaminsky, Andersen, NSDI
// 2019) limits its sessions in this way.
//
// The mistake: only an answer gives a credit back. Each lost request or answer takes a credit for
// ever, and when the last one is lost, the client waits for an answer that does not come.
//
// The cure: a client that has waited too long repeats all unanswered requests. Each has a number.
// The server therefore executes it once, however often it arrives, and an answer that arrives twice
// gives one credit back.
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/datagrams.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;

constexpr std::uint64_t credits = 2;
constexpr std::uint64_t patience_ns = 50'000;

// Requests and answers are the number of the request.
std::uint64_t number_in(const std::vector<std::byte>& message) {
  std::uint64_t number = 0;
  std::memcpy(&number, message.data(), sizeof number);
  return number;
}

// Counts executed requests.
void serve(check::Datagrams& datagrams, std::uint64_t& executions) {
  std::set<std::uint64_t> executed;
  while (true) {
    const check::Datagrams::Received request = datagrams.receive();
    if (executed.insert(number_in(request.message)).second) ++executions;
    datagrams.send(request.source, request.message);
  }
}

class Client {
 public:
  Client(fabric::Host& host, std::uint32_t number_of_server)
      : host_(host), datagrams_(host), server_(datagrams_.resolve("server", number_of_server)) {}

  void execute(std::uint64_t requests, bool repeats) {
    std::uint64_t next = 0;
    while (next < requests || !unanswered_.empty()) {
      if (next < requests && unanswered_.size() < credits) {
        unanswered_.insert(next);
        send(next++);
        continue;
      }
      const auto answer =
          datagrams_.receive_until(repeats ? host_.now_ns() + patience_ns : fabric::never_ns);
      if (answer) {
        unanswered_.erase(number_in(answer->message));
      } else {
        for (const std::uint64_t request : unanswered_) send(request);
      }
    }
  }

 private:
  void send(std::uint64_t request) {
    datagrams_.send(server_, std::as_bytes(std::span(&request, 1)));
  }

  fabric::Host& host_;
  check::Datagrams datagrams_;
  fabric::DatagramAddress server_;
  std::set<std::uint64_t> unanswered_;
};

void test(check::World& world, bool has_mistake) {
  const std::uint64_t requests = 1 + world.choose(5);
  std::optional<std::uint32_t> number_of_server;
  std::uint64_t executions = 0;

  world.server("server", [&](fabric::Host& host) {
    check::Datagrams datagrams(host, {.receive_buffers = credits});
    number_of_server = datagrams.number();
    serve(datagrams, executions);
  });
  world.client("client", [&](fabric::Host& host) {
    while (!number_of_server) host.sleep_until(host.now_ns() + patience_ns);
    Client(host, *number_of_server).execute(requests, !has_mistake);
    world.check(executions == requests, "datagram_credits.once",
                std::to_string(requests) + " requests were executed " + std::to_string(executions) +
                    " times");
  });
  world.run();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view variant = argument_count == 2 ? arguments[1] : "";
  if (variant != "mistake" && variant != "cure") {
    std::fputs("usage: datagram_credits mistake|cure\n", stderr);
    return 2;
  }
  const bool has_mistake = variant == "mistake";
  const check::Result result =
      check::random({.name = std::string("datagram_credits.").append(variant)},
                    [=](check::World& world) { test(world, has_mistake); });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
