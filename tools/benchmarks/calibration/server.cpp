#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "fabric/assert.h"
#include "tools/benchmarks/calibration/parties.h"
#include "tools/benchmarks/calibration/store_latency.h"

namespace falafel::calibration {
namespace {

constexpr std::uint32_t receive_requests = 4 * most_in_flight;  // for each client
constexpr std::uint64_t memory_bytes = most_clients * memory_stride_bytes;

// A connected client, whose messages the server takes.
class Connected {
 public:
  Connected(fabric::Host& host, fabric::ProtectionDomain& domain)
      : sends_(host.device(0).create_completion_queue(1).value()),
        receives_(host.device(0).create_completion_queue(receive_requests).value()),
        memory_(
            host.allocate_memory(std::uint64_t{receive_requests} * longest_message_bytes).value()),
        region_(domain
                    .register_memory(memory_, 0,
                                     std::uint64_t{receive_requests} * longest_message_bytes,
                                     {.local_write = true})
                    .value()) {}

  fabric::QueuePairOptions options(fabric::ProtectionDomain& domain) const {
    return {.protection_domain = &domain,
            .send_completions = sends_.get(),
            .receive_completions = receives_.get(),
            .max_send_requests = 1,
            .max_receive_requests = receive_requests};
  }

  void begin(std::unique_ptr<fabric::QueuePair> queue_pair) {
    queue_pair_ = std::move(queue_pair);
    for (std::uint64_t buffer = 0; buffer < receive_requests; ++buffer) post(buffer);
  }

  // Takes messages, and makes room for more, until the client has left.
  void take_messages() {
    std::array<fabric::WorkCompletion, receive_requests> completions;
    while (queue_pair_->state() == fabric::QueuePairState::ready) {
      receives_->wait(fabric::never_ns);
      const std::size_t count = receives_->poll(completions);
      for (std::size_t index = 0; index < count; ++index) {
        if (completions[index].status != fabric::CompletionStatus::success) return;
        post(completions[index].id);
      }
    }
  }

 private:
  void post(std::uint64_t buffer) {
    const fabric::ReceiveRequest request{
        .id = buffer,
        .local = {region_->local_key(), buffer * longest_message_bytes},
        .length_bytes = longest_message_bytes};
    const auto posted = queue_pair_->post_receive({&request, 1});
    FALAFEL_ASSERT(posted.has_value(), "buffer {}: {}", buffer, posted.error().detail);
  }

  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
};

}  // namespace

tl::expected<void, std::string> serve(fabric::Host& host, const std::function<bool()>& is_over,
                                      std::uint64_t interval_ns) {
  const auto domain = host.device(0).create_protection_domain();
  const auto memory = host.allocate_memory(memory_bytes);
  if (!memory) return tl::unexpected(memory.error().detail);
  const auto region = domain->register_memory(
      *memory, 0, memory_bytes,
      {.local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true});
  if (!region) return tl::unexpected(region.error().detail);
  const auto listener = host.device(0).listen(service);
  if (!listener) return tl::unexpected(listener.error().detail);
  const auto store = start_store(host);
  if (!store) return tl::unexpected(store.error().detail);
  const std::uint32_t key = (*region)->remote_key();
  fabric::PrivateData reply(sizeof key);
  std::memcpy(reply.data(), &key, sizeof key);

  std::vector<std::unique_ptr<Connected>> clients;
  std::vector<fabric::FiberId> fibers;
  while (!is_over()) {
    const auto request = (*listener)->accept(host.now_ns() + interval_ns);
    if (request == nullptr) continue;
    auto client = std::make_unique<Connected>(host, *domain);
    auto accepted = request->accept(client->options(*domain), reply);
    if (!accepted) continue;  // the client reports it
    client->begin(std::move(*accepted));
    clients.push_back(std::move(client));
    fibers.push_back(host.spawn({.name = "receiver", .daemon = true},
                                [&client = *clients.back()] { client.take_messages(); }));
  }
  for (const fabric::FiberId fiber : fibers) {
    host.cancel(fiber);
    host.join(fiber);
  }
  return {};
}

}  // namespace falafel::calibration
