// The fibers of a server that its clients use by exchanges (server_ends.h): one accepts
// connections, one or several take completions and serve the requests, each one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "stores/exchange/server_ends.h"

namespace falafel::stores {

// The part of a server that is the store's own.
class ExchangeService {
 public:
  virtual ~ExchangeService() = default;
  // Accepts or rejects.
  virtual void admit(fabric::ConnectionRequest& request) = 0;
  // Serves a request. False: it is malformed, so its connection is taken down. If several fibers
  // serve, the end of the arrival may be gone when this fiber has waited.
  virtual bool serve(const ServerEnds::Arrival& arrival) = 0;
};

class ExchangeServer {
 public:
  // The host outlives this object.
  ExchangeServer(fabric::Host& host, const ServerEndsOptions& options)
      : host_(host), domain_(host.device(0).create_protection_domain()), options_(options) {}

  // Errors: out_of_memory, address_in_use.
  fabric::Result<void> listen(std::uint16_t service);
  // The fibers keep `service` alive, which owns this object. Those that serve have that name.
  void start(std::shared_ptr<ExchangeService> service, const char* serving_fiber,
             std::uint32_t serving_fibers = 1);
  // Does not wait.
  void stop();

  fabric::ProtectionDomain& domain() { return *domain_; }
  // After listen().
  ServerEnds& ends() { return *ends_; }
  const ServerEnds& ends() const { return *ends_; }
  bool is_busy() const { return busy_fibers_ > 0; }  // with a completion
  std::uint64_t busy_ns() const { return busy_ns_; }

 private:
  void wait_for_completion();
  void serve(ExchangeService& service);
  void serve_all(ExchangeService& service);

  fabric::Host& host_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  const ServerEndsOptions options_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::unique_ptr<fabric::Listener> listener_;
  std::optional<ServerEnds> ends_;
  std::uint32_t serving_fibers_ = 0;
  std::uint32_t busy_fibers_ = 0;
  std::uint64_t busy_ns_ = 0;
  std::vector<fabric::FiberId> fibers_;
};

}  // namespace falafel::stores
