#include "tests/command_line/acceptance/faulty_host.h"

#include <utility>

namespace falafel::acceptance {
namespace {

using namespace fabric;

class FaultyQueuePair final : public QueuePair {
 public:
  FaultyQueuePair(std::unique_ptr<QueuePair> real, const Fault& fault)
      : real_(std::move(real)), fault_(fault) {}
  std::uint32_t number() const override { return real_->number(); }
  Transport transport() const override { return real_->transport(); }
  QueuePairState state() const override { return real_->state(); }
  Result<void> post_send(std::span<const WorkRequest> chain) override {
    std::vector<WorkRequest> changed(chain.begin(), chain.end());
    if (fault_.of_chain) fault_.of_chain(changed);
    return real_->post_send(changed);
  }
  Result<void> post_receive(std::span<const ReceiveRequest> chain) override {
    return real_->post_receive(chain);
  }
  void move_to_error() override { real_->move_to_error(); }
  void close() override { real_->close(); }
  bool places_in_address_order() const override { return real_->places_in_address_order(); }
  bool wait_until_peer_closed(std::uint64_t deadline_ns) override {
    return real_->wait_until_peer_closed(deadline_ns);
  }

 private:
  std::unique_ptr<QueuePair> real_;
  const Fault& fault_;
};

class FaultyCompletionQueue final : public CompletionQueue {
 public:
  FaultyCompletionQueue(std::unique_ptr<CompletionQueue> real, const Fault& fault)
      : real_(std::move(real)), fault_(fault) {}
  std::size_t poll(std::span<WorkCompletion> destination) override {
    const std::size_t count = real_->poll(destination);
    for (std::size_t index = 0; index < count && fault_.of_completion; ++index)
      fault_.of_completion(destination[index]);
    return count;
  }
  bool wait(std::uint64_t deadline_ns) override { return real_->wait(deadline_ns); }
  CompletionQueue* real() const { return real_.get(); }

 private:
  std::unique_ptr<CompletionQueue> real_;
  const Fault& fault_;
};

// Queue pairs belong to real completion queues.
QueuePairOptions with_real_queues(QueuePairOptions options) {
  for (CompletionQueue** const queue : {&options.send_completions, &options.receive_completions}) {
    if (auto* const faulty = dynamic_cast<FaultyCompletionQueue*>(*queue)) *queue = faulty->real();
  }
  return options;
}

class FaultyDevice final : public Device {
 public:
  FaultyDevice(Device& real, const Fault& fault) : real_(real), fault_(fault) {}
  const DeviceAttributes& attributes() const override { return real_.attributes(); }
  std::unique_ptr<ProtectionDomain> create_protection_domain() override {
    return real_.create_protection_domain();
  }
  Result<std::unique_ptr<CompletionQueue>> create_completion_queue(
      std::uint32_t capacity) override {
    auto made = real_.create_completion_queue(capacity);
    if (!made) return tl::unexpected(made.error());
    return std::make_unique<FaultyCompletionQueue>(std::move(*made), fault_);
  }
  Result<std::unique_ptr<SharedReceiveQueue>> create_shared_receive_queue(
      const SharedReceiveQueueOptions& options) override {
    return real_.create_shared_receive_queue(options);
  }
  Result<std::unique_ptr<Listener>> listen(std::uint16_t service) override {
    return real_.listen(service);
  }
  Result<Connection> connect(const Address& address, const QueuePairOptions& options,
                             PrivateData private_data, std::uint64_t deadline_ns) override {
    auto made =
        real_.connect(address, with_real_queues(options), std::move(private_data), deadline_ns);
    if (!made) return made;
    made->queue_pair = std::make_unique<FaultyQueuePair>(std::move(made->queue_pair), fault_);
    return made;
  }
  Result<std::unique_ptr<QueuePair>> create_datagram_queue_pair(
      const QueuePairOptions& options) override {
    return real_.create_datagram_queue_pair(options);
  }
  Result<DatagramAddress> resolve(const std::string& host,
                                  std::uint32_t queue_pair_number) override {
    return real_.resolve(host, queue_pair_number);
  }

 private:
  Device& real_;
  const Fault& fault_;
};

class FaultyHost final : public Host {
 public:
  FaultyHost(Host& real, Fault fault)
      : real_(real), fault_(std::move(fault)), device_(real.device(0), fault_) {}
  const std::string& name() const override { return real_.name(); }
  std::size_t device_count() const override { return 1; }
  Device& device(std::size_t /*index*/) override { return device_; }
  Result<std::shared_ptr<MemoryBlock>> allocate_memory(std::uint64_t size_bytes) override {
    return real_.allocate_memory(size_bytes);
  }
  Result<KeptMemory> keep_memory(const std::string& name, std::uint64_t size_bytes) override {
    return real_.keep_memory(name, size_bytes);
  }
  Result<std::shared_ptr<MemoryBlock>> reserve_memory(std::uint64_t size_bytes) override {
    return real_.reserve_memory(size_bytes);
  }
  Result<KeptMemory> keep_reserved_memory(const std::string& name,
                                          std::uint64_t size_bytes) override {
    return real_.keep_reserved_memory(name, size_bytes);
  }
  FiberId spawn(const FiberOptions& options, std::function<void()> body) override {
    return real_.spawn(options, std::move(body));
  }
  void cancel(FiberId fiber) override { real_.cancel(fiber); }
  bool is_cancelled() const override { return real_.is_cancelled(); }
  void set_cooperative(bool is_cooperative) override { real_.set_cooperative(is_cooperative); }
  void join(FiberId fiber) override { real_.join(fiber); }
  std::unique_ptr<Event> create_event() override { return real_.create_event(); }
  std::uint64_t now_ns() override { return real_.now_ns(); }
  std::uint64_t wall_clock_ns() override { return real_.wall_clock_ns(); }
  void sleep_until(std::uint64_t deadline_ns) override { real_.sleep_until(deadline_ns); }
  void yield() override { real_.yield(); }
  void preemption_point() override { real_.preemption_point(); }
  std::uint64_t random(std::uint64_t bound) override { return real_.random(bound); }
  void count(const Probe& probe) override { real_.count(probe); }
  void spend(Work work, std::uint64_t bytes) override { real_.spend(work, bytes); }

 private:
  Host& real_;
  Fault fault_;
  FaultyDevice device_;
};

}  // namespace

std::unique_ptr<fabric::Host> make_faulty_host(fabric::Host& host, Fault fault) {
  return std::make_unique<FaultyHost>(host, std::move(fault));
}

}  // namespace falafel::acceptance
