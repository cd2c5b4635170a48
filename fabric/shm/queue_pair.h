// A reliable connection whose requests are carried out by the processor of who posts them, at once and in
// order. What cannot be done at once (a SEND that finds no receive request, a peer that does not answer)
// waits in a queue, and what is behind it waits too.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/posting_rules.h"
#include "fabric/shm/key_table.h"
#include "fabric/shm/link.h"

namespace falafel::shm {

class CompletionQueue;
class Host;

class QueuePair final : public fabric::QueuePair {
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
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain) override;
  void move_to_error() override;
  void close() override;

  void attach(std::shared_ptr<Link> link);
  // Goes on with what waits, and takes what the peer has brought.
  void progress();
  // Whether progress() would find something to do; and when at the latest.
  bool has_news() const;
  std::uint64_t next_deadline_ns() const;
  // Completions have been polled.
  void free_places(fabric::Opcode opcode, std::uint32_t places);

 private:
  struct Waiting {
    fabric::WorkRequest request;
    std::byte* local = nullptr;
    std::vector<std::byte> inlined;
    std::uint64_t since_ns = 0;  // 0: not tried yet
  };
  // What becomes of a request that is tried.
  enum class Outcome : std::uint8_t {
    done,
    access_error,
    message_too_long,
    no_receive_request,  // try again later
    no_answer,
  };

  // Where the buffer is, if it is usable.
  fabric::LocalBuffer examine_local(const fabric::MemoryAddress& local, std::uint64_t length_bytes,
                                    bool is_written, std::byte*& address);
  void enqueue(const fabric::WorkRequest& request, std::byte* local);
  // Tries requests in order, and returns how many are completed.
  std::size_t execute_at_once(std::span<const fabric::WorkRequest> chain);
  Outcome retry(const Waiting& waiting);
  Outcome execute(const fabric::WorkRequest& request, std::byte* local);
  void prefetch(const fabric::WorkRequest& request);
  Outcome move_data(const fabric::WorkRequest& request, std::byte* local);
  Outcome change_word(const fabric::WorkRequest& request, std::byte* local);
  Outcome deliver_message(const fabric::WorkRequest& request, std::byte* local);
  std::byte* find_remote(const fabric::MemoryAddress& remote, std::uint64_t length_bytes,
                         std::uint64_t right);
  bool may_go_on() const;

  void complete(const fabric::WorkRequest& request, fabric::CompletionStatus status);
  // The first request to fail.
  void fail(const fabric::WorkRequest& request, fabric::CompletionStatus status);
  void fail_for(const fabric::WorkRequest& request, Outcome outcome);
  void retry_waiting();
  std::uint64_t patience_ns(fabric::Opcode opcode) const;
  bool is_over(const Waiting& waiting) const;
  void flush();
  std::uint64_t next_drain_check_ns() const;
  void collect_received();
  void receive_completed(std::uint32_t index, fabric::CompletionStatus status,
                         std::uint32_t length_bytes);
  bool is_in_error() const;

  Host& host_;
  fabric::QueuePairOptions options_;
  std::uint32_t number_;
  std::uint64_t domain_;
  CompletionQueue& send_completions_;
  CompletionQueue& receive_completions_;
  KeyCache local_keys_;
  KeyCache remote_keys_;
  std::shared_ptr<Link> link_;  // null until connected, and once closed
  bool closed_ = false;
  std::uint64_t undrained_since_ns_ = 0;  // in error since then; 0: not known yet
  bool drained_ = false;  // in error, and what the peer had brought by then has been collected

  std::vector<std::byte*> locals_;  // buffers of the chain that is being posted; null: no data
  std::deque<Waiting> waiting_;
  std::uint32_t places_taken_ = 0;
  std::uint32_t unsignalled_ = 0;  // requests that the next completion completes too, and itself

  std::vector<std::uint64_t> receive_ids_;  // by slot
  std::uint32_t receive_places_taken_ = 0;
  std::uint32_t posted_receives_ = 0;
  std::uint32_t collected_receives_ = 0;
};

}  // namespace falafel::shm
