// Queue pairs translate the requests of the contract into those of libibverbs. Posting checks what
// the device would report only later. Each queue has exactly the requested length, although the
// device may have made it longer.
//
// The device identifies a request by its sequence number in its queue. The queue pair remembers
// what the completion of the request must report. Three files implement it:
//   posting.cpp     posts requests
//   queue_pair.cpp  creates and destroys the queue pair and changes its state
//   datagrams.cpp   does what is particular to UD
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/posting_rules.h"
#include "fabric/verbs/address_book.h"
#include "fabric/verbs/closing_notice.h"
#include "fabric/verbs/completion_queue.h"
#include "fabric/verbs/gid.h"
#include "fabric/verbs/memory.h"
#include "fabric/verbs/request_reference.h"
#include "fabric/verbs/resources.h"
#include "fabric/verbs/shared_receive_queue.h"

namespace falafel::verbs {

// The properties of its port that a queue pair needs.
struct PortIdentity {
  std::uint8_t port = 1;
  std::uint8_t gid_index = 0;
  bool is_ethernet = true;
  std::uint16_t local_identifier = 0;
  Gid gid{};
  std::uint16_t partition_index = 0;  // in the port's table of keys
  std::uint8_t traffic_class = 0;
  std::uint8_t service_level = 0;
  std::uint32_t mtu_bytes = 1024;
  std::uint32_t max_message_bytes = 0;
  std::uint32_t most_retries = 7;
  bool is_soft_roce = false;
};

// The peer of a queue pair, and what both ends have agreed on.
struct Route {
  std::uint32_t queue_pair_number = 0;
  std::uint32_t first_sent_packet = 0;  // packet sequence numbers
  std::uint32_t first_received_packet = 0;
  Gid gid{};
  std::uint16_t local_identifier = 0;
  std::uint32_t mtu_bytes = 1024;
  std::uint32_t reads_as_requester = 1;
  std::uint32_t reads_as_responder = 1;
};

class QueuePair final : public fabric::QueuePair {
 public:
  // The device must have checked the options.
  static fabric::Result<std::unique_ptr<QueuePair>> create(
      const fabric::QueuePairOptions& options, const PortIdentity& port,
      const fabric::DeviceAttributes& attributes, std::shared_ptr<AddressBook> addresses);
  ~QueuePair() override { close(); }
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  // Makes the queue pair ready. After an error it is unusable.
  fabric::Result<void> join(const Route& route);
  fabric::Result<void> become_ready_for_datagrams();
  // The sides of the connection tell each other when they close.
  void attach(std::shared_ptr<ClosingNotice> notice);

  std::uint32_t number() const override { return number_; }
  fabric::Transport transport() const override { return options_.transport; }
  fabric::QueuePairState state() const override;
  fabric::Result<void> post_send(std::span<const fabric::WorkRequest> chain) override;
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain) override;
  void move_to_error() override;
  void close() override;
  bool wait_until_peer_closed(std::uint64_t deadline_ns) override;
  bool places_in_address_order() const override;

  // For completion queues.
  RequestReference reference(std::uint64_t device_id) const;
  fabric::DatagramAddress source(const ibv_wc& entry, const RequestReference& receive);
  void release(fabric::Opcode opcode, std::uint64_t sequence);
  bool note_failure(fabric::Opcode opcode);  // returns whether it is the first
  // The port has gone down.
  void on_port_error(int port) const;

 private:
  // The requests of one queue whose completions have not been polled: [released, posted).
  struct Queue {
    std::vector<RequestReference> requests;
    std::uint64_t released = 0;
    std::uint64_t posted = 0;

    std::uint64_t taken() const { return posted - released; }
    bool contains(std::uint64_t sequence) const {
      return sequence >= released && sequence < posted;
    }
    RequestReference& at(std::uint64_t sequence) { return requests[sequence % requests.size()]; }
    const RequestReference& at(std::uint64_t sequence) const {
      return requests[sequence % requests.size()];
    }
  };

  QueuePair(const fabric::QueuePairOptions& options, const PortIdentity& port,
            const fabric::DeviceAttributes& attributes, std::shared_ptr<AddressBook> addresses,
            ibv_qp* raw);

  fabric::LocalBuffer examine_local(const fabric::MemoryAddress& local, std::uint64_t length_bytes,
                                    bool is_written) const;
  fabric::Result<void> check_chain(std::span<const fabric::WorkRequest> chain);
  void translate(const fabric::WorkRequest& request, ibv_send_wr& out);
  template <typename Request>
  std::span<ibv_sge> describe_buffer(const Request& request);

  static std::uint32_t key_of_datagrams();
  fabric::Result<void> prepare_destination(const fabric::DatagramAddress& destination);
  void address(const fabric::DatagramAddress& destination, ibv_send_wr& out) const;
  void forget_destinations();

  fabric::Result<void> initialize();
  fabric::Result<void> become_ready_to_receive(const Route& route);
  fabric::Result<void> become_ready_to_send(const Route& route);
  void enter_error() const;
  bool is_in_error_by_device() const;
  void let_answer_leave() const;

  fabric::QueuePairOptions options_;
  PortIdentity port_;
  fabric::DeviceAttributes attributes_;
  std::shared_ptr<AddressBook> addresses_;
  std::vector<ibv_ah*> destinations_;  // by number of the host; null: nothing was sent to it yet
  std::shared_ptr<DomainState> domain_;
  std::shared_ptr<CompletionQueueState> send_completions_;
  std::shared_ptr<CompletionQueueState> receive_completions_;
  std::shared_ptr<SharedReceiveQueueState> shared_receives_;  // null: none
  std::shared_ptr<ClosingNotice> closing_notice_;             // null unless a side hears it
  ibv_qp* raw_;
  std::uint32_t number_;
  mutable fabric::QueuePairState state_ = fabric::QueuePairState::ready;
  Queue sends_;
  Queue receives_;
  // Members only to reuse their memory.
  std::vector<ibv_send_wr> send_list_;
  std::vector<ibv_recv_wr> receive_list_;
  std::vector<ibv_sge> buffers_;
};

}  // namespace falafel::verbs
