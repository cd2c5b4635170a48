// A simulated RDMA device: its limits, the words that its atomics hold, and the factories of its
// objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::sim::timing {
struct Card;
}

namespace falafel::sim {

class Host;
class QueuePairActor;
struct World;

class Device final : public fabric::Device {
 public:
  Device(World& world, Host& host);

  const fabric::DeviceAttributes& attributes() const override { return attributes_; }
  std::unique_ptr<fabric::ProtectionDomain> create_protection_domain() override;
  fabric::Result<std::unique_ptr<fabric::CompletionQueue>> create_completion_queue(
      std::uint32_t capacity) override;
  fabric::Result<std::unique_ptr<fabric::SharedReceiveQueue>> create_shared_receive_queue(
      const fabric::SharedReceiveQueueOptions& options) override;
  fabric::Result<std::unique_ptr<fabric::Listener>> listen(std::uint16_t service) override;
  fabric::Result<fabric::Connection> connect(const fabric::Address& address,
                                             const fabric::QueuePairOptions& options,
                                             fabric::PrivateData private_data,
                                             std::uint64_t deadline_ns) override;
  fabric::Result<std::unique_ptr<fabric::QueuePair>> create_datagram_queue_pair(
      const fabric::QueuePairOptions& options) override;
  fabric::Result<fabric::DatagramAddress> resolve(const std::string& host,
                                                  std::uint32_t queue_pair_number) override;

  Host& host() const { return host_; }
  fabric::Result<QueuePairActor*> create_queue_pair(const fabric::QueuePairOptions& options);

  // The card of the machine, in a timed run; null otherwise.
  timing::Card* card() const { return card_; }

  // One of them was destroyed.
  void forget_shared_receive_queue() { --shared_receive_queues_; }

  // An atomic holds its word between its read and its write. The device finishes that atomic before
  // it starts another one on the word; other accesses ignore the hold.
  void hold(const std::byte* word, QueuePairActor& holder) {
    FALAFEL_ASSERT(holder_of(word) == nullptr, "two atomics of one device hold a word");
    held_words_.push_back({word, &holder});
  }
  void release(const std::byte* word);
  bool holds_any_of(const std::byte* begin, std::uint64_t length_bytes) const {
    for (const HeldWord& held : held_words_) {
      if (held.word < begin + length_bytes && begin < held.word + fabric::word_bytes) return true;
    }
    return false;
  }
  QueuePairActor* holder_of(const std::byte* word) const {
    for (const HeldWord& held : held_words_) {
      if (held.word == word) return held.holder;
    }
    return nullptr;
  }

 private:
  struct HeldWord {
    const std::byte* word;
    QueuePairActor* holder;
  };

  fabric::Result<void> check_options(const fabric::QueuePairOptions& options) const;
  fabric::Result<void> check_entries(const fabric::QueuePairOptions& options) const;

  timing::Card* card_ = nullptr;
  World& world_;
  Host& host_;
  fabric::DeviceAttributes attributes_;
  std::vector<HeldWord> held_words_;
  std::uint32_t shared_receive_queues_ = 0;
};

}  // namespace falafel::sim
