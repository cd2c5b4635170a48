// A client of Troost's store: every operation is a request to the server and its response.
//
//   auto client = Client::connect(host, {.host = "server", .service = 9}, {}).value();
//   client->set(key, value);
//   GetResult result = client->get(key);
//   client->close();
//
// One fiber at a time may use a client. A client whose connection breaks is disconnected for good.
// Without Safeguards::time_outs, an operation waits forever if a message is lost or the server is
// gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/operation_counts.h"
#include "stores/two_sided/layout.h"
#include "stores/two_sided/options.h"
#include "stores/two_sided/port.h"
#include "stores/two_sided/results.h"

namespace falafel::two_sided {

class Client {
 public:
  // Waits. Errors: those of Device::connect and Device::resolve; invalid_argument (an option out of
  // range, or the listener is no server of this version), out_of_memory.
  static fabric::Result<std::unique_ptr<Client>> connect(fabric::Host& host,
                                                         const fabric::Address& server,
                                                         const Options& options);

  // All of them wait. A key has 1 to 64 bytes, a value at most 256.
  GetResult get(std::span<const std::byte> key);
  Result set(std::span<const std::byte> key, std::span<const std::byte> value);
  Result remove(std::span<const std::byte> key);
  Result ping();   // found: the server answers
  Result reset();  // deleted: the server had no keys
  // The last request, which ends the worker. Afterwards the client is disconnected. deleted: the
  // server has confirmed it. On UC, the response is often lost with the worker's queue pair, and
  // the outcome is unknown after close_timeout_ns.
  Result close();

  // The sum over all operations.
  const OperationStatistics& statistics() const { return counts_.total; }

 private:
  enum class Exchange : std::uint8_t { answered, not_sent, in_doubt };

  Client(fabric::Host& host, const Options& options) : host_(host), options_(options) {}

  fabric::Result<void> open(const fabric::Address& server);
  fabric::Result<void> open_datagrams(const fabric::Address& server, const ServerHello& hello);
  std::uint64_t operation_deadline_ns() const;
  Exchange exchange(Request& request, Response& response, std::uint64_t deadline_ns);
  bool post_receive();
  Exchange give_up();
  bool await_response(std::uint64_t deadline_ns, Response& response);
  bool take_response(const Arrival& arrival, Response& response);
  Answer change(Method method, std::span<const std::byte> key, std::span<const std::byte> value);
  Answer command(Request& request, Answer success, std::uint64_t deadline_ns);
  Result finish(Answer answer);

  fabric::Host& host_;
  const Options options_;
  std::int32_t id_ = 0;
  std::uint32_t last_request_number_ = 0;
  fabric::DatagramAddress server_{};  // on UD
  bool is_down_ = false;
  std::uint32_t posted_receives_ = 0;
  stores::OperationCounts<OperationStatistics> counts_;
  std::unique_ptr<Port> side_channel_;  // on UD
  std::unique_ptr<Port> port_;
};

}  // namespace falafel::two_sided
