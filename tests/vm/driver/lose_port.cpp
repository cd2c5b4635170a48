// A request whose answer never comes is pending when the interface of the network goes down. The
// next one then has no way to its peer. Both must end.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "fabric/assert.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/queue_pair.h"
#include "tests/hang_limit.h"
#include "tests/vm/driver/driver.h"

namespace falafel::driver {
namespace {

// The device must not repeat the first request before the second one is posted.
constexpr std::uint64_t long_acknowledge_timeout_ns = 10 * second_ns;

void expect(const fabric::Result<void>& done) {
  FALAFEL_ASSERT(done.has_value(), "{}", done.error().detail);
}

class LostPort {
 public:
  explicit LostPort(fabric::Host& host)
      : device_(dynamic_cast<verbs::Device&>(host.device(0))),
        domain_(device_.create_protection_domain()),
        block_(host.allocate_memory(fabric::word_bytes).value()),
        region_(
            domain_->register_memory(block_, 0, fabric::word_bytes, {.local_write = true}).value()),
        completions_(device_.create_completion_queue(8).value()) {
    const fabric::QueuePairOptions options{.protection_domain = domain_.get(),
                                           .send_completions = completions_.get(),
                                           .receive_completions = completions_.get(),
                                           .max_send_requests = 2,
                                           .max_receive_requests = 1,
                                           .max_outstanding_reads_and_atomics = 2,
                                           .acknowledge_timeout_ns = long_acknowledge_timeout_ns};
    silent_ = device_.create_queue_pair(options).value();
    requester_ = device_.create_queue_pair(options).value();
    const verbs::HandshakeBody peer = device_.describe(*silent_, options);
    expect(requester_->join({.queue_pair_number = peer.queue_pair_number,
                             .gid = peer.gid,
                             .local_identifier = peer.local_identifier,
                             .mtu_bytes = peer.mtu_bytes,
                             .reads_as_requester = 2}));
  }

  void post(std::uint64_t id) {
    const fabric::WorkRequest request{.id = id,
                                      .opcode = fabric::Opcode::read,
                                      .length_bytes = fabric::word_bytes,
                                      .local = {.key = region_->local_key()}};
    expect(requester_->post_send({&request, 1}));
  }

  std::optional<fabric::WorkCompletion> next(std::uint64_t deadline_ns) {
    fabric::WorkCompletion completion;
    if (!completions_->wait(deadline_ns) || completions_->poll({&completion, 1}) != 1) return {};
    return completion;
  }

 private:
  verbs::Device& device_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::shared_ptr<fabric::MemoryBlock> block_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::unique_ptr<verbs::QueuePair> silent_;  // as it was created, so it receives nothing
  std::unique_ptr<verbs::QueuePair> requester_;
};

}  // namespace

int lose_port(const Settings& settings) {
  return run_on_host(settings, [&](fabric::Host& host) {
    LostPort port(host);
    port.post(1);
    const std::string command = fmt::format("ip link set {} down", settings.interface);
    // NOLINTNEXTLINE(cert-env33-c): of this machine alone
    if (std::system(command.c_str()) != 0) return 2;
    port.post(2);
    for (int request = 1; request <= 2; ++request) {
      const auto completion = port.next(host.now_ns() + hang_limit_ns);
      fmt::print("request {}: {}\n", request,
                 completion ? to_string(completion->status) : "is pending for ever");
      if (!completion || completion->id != static_cast<std::uint64_t>(request)) return 1;
    }
    return 0;
  });
}

}  // namespace falafel::driver
