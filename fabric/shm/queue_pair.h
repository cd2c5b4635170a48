// A reliable connection. The thread that posts a request carries it out, at once and in order. A
// request that must wait (a SEND that finds no receive request, a peer that does not answer) waits
// in a queue, and later requests wait behind it. Four files implement a queue pair:
//   posting.cpp     checks and accepts requests
//   transfer.cpp    carries requests out in the peer's memory
//   single_read.cpp does both for a READ without a completion
//   queue_pair.cpp  completes, retries and flushes requests, and receives messages
#pragma once

#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/immediate_reads.h"
#include "fabric/posting_rules.h"
#include "fabric/shm/key_table.h"
#include "fabric/shm/link.h"
#include "fabric/shm/local_parts.h"

namespace falafel::shm {

class CompletionQueue;
class Host;

class QueuePair final : public fabric::QueuePair, public fabric::ImmediateReads {
 public:
  QueuePair(Host& host, const fabric::QueuePairOptions& options, std::uint32_t number,
            std::uint64_t domain);
  ~QueuePair() override;
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  std::uint32_t number() const override { return number_; }
  fabric::Transport transport() const override { return options_.transport; }
  fabric::QueuePairState state() const override;
  fabric::Result<void> post_send(std::span<const fabric::WorkRequest> chain) override;
  bool read_at_once(const fabric::WorkRequest& request) override;
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain) override;
  void move_to_error() override;
  void close() override;
  bool wait_until_peer_closed(std::uint64_t deadline_ns) override;
  bool places_in_address_order() const override { return true; }  // copy.h

  void attach(std::shared_ptr<Link> link);
  // Retries waiting requests and collects what the peer has delivered.
  void progress();
  // Tell whether progress() has something to do, and when it will have at the latest.
  bool has_news() const;
  std::uint64_t next_deadline_ns() const;
  // A completion has been polled.
  void free_places(fabric::Opcode opcode, std::uint32_t places);

 private:
  struct Waiting {
    fabric::WorkRequest request;
    std::vector<LocalPart> local;
    std::vector<std::byte> inlined;
    std::uint64_t since_ns = 0;  // of the first attempt; 0: not tried yet
  };
  // The result of an attempt to carry out a request.
  enum class Outcome : std::uint8_t {
    done,
    access_error,
    message_too_long,
    no_receive_request,  // try again later
    no_answer,
  };

  // Adds the buffer, or the segment of it, to locals_.
  fabric::LocalBuffer examine_local(const fabric::MemoryAddress& local, std::uint64_t length_bytes,
                                    bool is_written);
  void fill_slot(const fabric::ReceiveRequest& request, LocalParts local);
  void make_room(std::span<const fabric::WorkRequest> chain);
  void enqueue(std::span<const fabric::WorkRequest> chain, LocalParts locals);
  void enqueue(const fabric::WorkRequest& request, LocalParts local);
  void break_off(std::span<const fabric::WorkRequest> chain);
  // Attempts requests in order and returns how many have completed. Removes their buffers from
  // `locals`.
  std::size_t carry_out_at_once(std::span<const fabric::WorkRequest> chain, LocalParts& locals);
  Outcome retry(const Waiting& waiting);
  Outcome carry_out(const fabric::WorkRequest& request, LocalParts local);
  void prefetch(const fabric::WorkRequest& request);
  Outcome move_data(const fabric::WorkRequest& request, LocalParts local);
  void read_packet(LocalParts local, std::uint64_t offset, std::byte* remote,
                   std::uint64_t length_bytes);
  std::byte* whole_source(LocalParts local, std::uint64_t offset, std::uint64_t length_bytes);
  Outcome change_word(const fabric::WorkRequest& request, std::byte* local);
  Outcome deliver_message(const fabric::WorkRequest& request, LocalParts local);
  ReceiveSegment further_segment(std::uint32_t index, std::uint32_t number) const;
  bool fill_buffer(const ReceiveSlot& slot, LocalParts local, std::uint64_t length_bytes);
  Outcome write_and_notify(const fabric::WorkRequest& request, LocalParts local);
  void fill(ReceiveSlot& slot, const fabric::WorkRequest& request, ReceiveStatus status);
  std::byte* find_remote(const fabric::MemoryAddress& remote, std::uint64_t length_bytes,
                         std::uint64_t right) {
    return remote_keys_.look_up(remote.key, remote.offset, length_bytes, right).address;
  }
  bool may_go_on() const {
    return link_->peer_gate().state.load(std::memory_order_acquire) == GateState::ready &&
           !is_in_error();
  }

  void complete(const fabric::WorkRequest& request, fabric::CompletionStatus status);
  // Completes the first request that fails.
  void fail(const fabric::WorkRequest& request, fabric::CompletionStatus status);
  void fail_for(const fabric::WorkRequest& request, Outcome outcome);
  void retry_waiting();
  std::uint64_t patience_ns(fabric::Opcode opcode) const;
  bool is_over(const Waiting& waiting) const;
  void flush();
  std::uint64_t next_drain_check_ns() const;
  void collect_received();
  fabric::WorkCompletion receive_completion(std::uint32_t index,
                                            fabric::CompletionStatus status) const;
  bool is_in_error() const {
    return link_->own_gate().state.load(std::memory_order_acquire) != GateState::ready;
  }

  Host& host_;
  fabric::QueuePairOptions options_;
  std::uint32_t number_;
  std::uint64_t domain_;
  CompletionQueue& send_completions_;
  CompletionQueue& receive_completions_;
  KeyCache local_keys_;
  KeyCache remote_keys_;
  std::shared_ptr<Link> link_;  // null until connected and after closing
  bool closed_ = false;
  std::uint64_t undrained_since_ns_ = 0;  // when the error was noticed; 0: not yet
  bool drained_ = false;  // in error, and everything the peer delivered has been collected

  std::vector<LocalPart> locals_;            // buffers of the chain that is being posted
  std::vector<std::byte> gathered_;          // a member only to reuse its memory
  boost::circular_buffer<Waiting> waiting_;  // has room for all requests from the beginning
  std::uint32_t places_taken_ = 0;
  std::uint32_t unsignalled_ = 0;  // completed requests that the next completion will report

  std::vector<std::uint64_t> receive_ids_;  // by slot
  std::uint32_t receive_places_taken_ = 0;
  std::uint32_t posted_receives_ = 0;
  std::uint32_t collected_receives_ = 0;
};

}  // namespace falafel::shm
