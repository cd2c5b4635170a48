// The server's ends of its clients' connections: receive requests, replies, and taking connections
// down. Everything is bounded, whatever a client does.
//
// A client has some exchanges. Each has a buffer for a request and one for its reply, and its
// receive request is posted again when the reply has been sent. A client that sends more waits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "fabric/fabric.h"

namespace falafel::stores {

// The layout of a connection's memory block: a container to which the client may WRITE, if there is
// one, and then the buffers.
struct BlockLayout {
  std::uint64_t container_bytes = 0;
  // The buffers of exchange 0, and the first of the store's own; and from one to the next.
  std::uint64_t request_offset = 0;
  std::uint64_t reply_offset = 0;
  std::uint64_t own_offset = 0;
  std::uint64_t stride_bytes = 0;
  std::uint64_t block_bytes = 0;
};

struct ServerEndsOptions {
  std::uint32_t max_clients = 64;
  std::uint32_t exchanges = 2;      // of each client
  std::uint32_t own_requests = 0;   // of each connection, besides replies
  std::uint32_t message_bytes = 0;  // of the longest message
  BlockLayout layout{};
  std::uint64_t acknowledge_timeout_ns = 0;
  std::uint32_t retry_count = 0;

  // A receive request and a reply of each exchange, and the store's own requests.
  std::uint32_t completions_per_client() const { return 2 * exchanges + own_requests; }
};

// One connection. Members are destroyed in reverse order: the queue pair first.
struct ServerEnd {
  std::uint32_t number = 0;
  std::uint64_t client_id = 0;
  std::uint32_t client_container_key = 0;  // permits WRITE of the client's container, if it has one
  std::shared_ptr<fabric::MemoryBlock> block;
  std::unique_ptr<fabric::MemoryRegion> buffers;
  std::unique_ptr<fabric::MemoryRegion> container;
  std::uint32_t posted = 0;      // requests whose completions have not been polled
  std::uint32_t own_posted = 0;  // of these, the store's own
  bool is_down = false;
  std::unique_ptr<fabric::QueuePair> queue_pair;
};

// The connection of a request, and the exchange that it takes of the client's.
struct RequestOrigin {
  std::uint32_t connection = 0;
  std::uint32_t exchange = 0;
  std::uint64_t client_id = 0;
};

class ServerEnds {
 public:
  // All of them outlive this object. The completion queue has room for max_clients times
  // completions_per_client().
  ServerEnds(fabric::Host& host, fabric::ProtectionDomain& domain,
             fabric::CompletionQueue& completions, const ServerEndsOptions& options)
      : host_(host), domain_(domain), completions_(completions), options_(options) {}

  const ServerEndsOptions& options() const { return options_; }

  // Accepts a client or rejects it, if there are too many or memory is short. An earlier connection
  // of the same client is taken down. `hello_of` tells the server's private data.
  struct Newcomer {
    std::uint64_t client_id = 0;
    std::uint32_t container_key = 0;
  };
  void admit(fabric::ConnectionRequest& request, const Newcomer& client,
             const std::function<fabric::PrivateData(const ServerEnd&)>& hello_of);
  static void reject(fabric::ConnectionRequest& request, std::string_view reason);

  // A message that has arrived. Its bytes stay until its reply is posted or the end goes down.
  struct Arrival {
    ServerEnd* end = nullptr;
    std::uint32_t exchange = 0;
    std::span<const std::byte> message;

    RequestOrigin origin() const {
      return {.connection = end->number, .exchange = exchange, .client_id = end->client_id};
    }
  };
  // Polls one completion, and handles it. Returns false if there was none. `arrival` becomes the
  // message that arrived, if one did.
  bool poll(std::optional<Arrival>& arrival);
  // The message is malformed, so the connection is taken down.
  void refuse(const Arrival& arrival);

  // Null: the connection is down.
  ServerEnd* find(std::uint32_t number);
  // The SEND of a reply, whose bytes are put into their buffer, or of another message from an own
  // buffer.
  fabric::WorkRequest reply_request(ServerEnd& end, std::uint32_t exchange,
                                    std::span<const std::byte> header,
                                    std::span<const std::byte> value) const;
  // An own request, whose bytes are put into its buffer; a SEND until the caller says otherwise.
  fabric::WorkRequest own_request(ServerEnd& end, std::uint32_t own,
                                  std::span<const std::byte> bytes) const;
  // Sends the reply to a request. Does nothing if the connection is down.
  void reply(const RequestOrigin& origin, std::span<const std::byte> header,
             std::span<const std::byte> value);
  // Requests that are signalled.
  void post(ServerEnd& end, std::span<const fabric::WorkRequest> chain);

  // Calls this for each connection that is up.
  void for_each(const std::function<void(ServerEnd&)>& use);
  // Both wait, until deadline_ns at most. Requests that arrive meanwhile are dropped.
  void wait_for_own_requests(std::uint64_t deadline_ns);
  void take_all_down(std::uint64_t deadline_ns);

  std::uint64_t connected() const;
  std::uint64_t malformed_requests() const { return malformed_requests_; }

 private:
  std::uint64_t request_offset(std::uint32_t exchange) const {
    return options_.layout.request_offset + exchange * options_.layout.stride_bytes;
  }
  fabric::Result<std::unique_ptr<ServerEnd>> make_end(const Newcomer& client);
  void post_receive(ServerEnd& end, std::uint32_t exchange);
  fabric::WorkRequest send_request(ServerEnd& end, std::uint32_t number, std::uint64_t offset,
                                   std::span<const std::byte> header,
                                   std::span<const std::byte> value) const;
  std::optional<Arrival> handle(const fabric::WorkCompletion& completion);
  void take_down(ServerEnd& end);
  void forget_drained();
  template <typename Condition>
  void wait_until(const Condition& condition, std::uint64_t deadline_ns);

  fabric::Host& host_;
  fabric::ProtectionDomain& domain_;
  fabric::CompletionQueue& completions_;
  const ServerEndsOptions options_;
  std::map<std::uint32_t, std::unique_ptr<ServerEnd>> ends_;
  std::uint32_t next_number_ = 1;
  std::uint64_t malformed_requests_ = 0;
};

}  // namespace falafel::stores
