// A completion queue. The queue pairs attached to it put completions there; when the program polls
// one, its queue pair gets the places of its requests back.
#pragma once

#include <cstdint>
#include <deque>

#include "fabric/fabric.h"
#include "fabric/realtime/fiber_scheduler.h"

namespace falafel::stream {

class Connection;

class CompletionQueue final : public fabric::CompletionQueue {
 public:
  CompletionQueue(fabric::FiberScheduler& scheduler, std::uint32_t capacity)
      : scheduler_(scheduler), capacity_(capacity) {}
  ~CompletionQueue() override;
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;

  std::size_t poll(std::span<fabric::WorkCompletion> destination) override;
  bool wait(std::uint64_t deadline_ns) override;

  fabric::FiberScheduler& scheduler() const { return scheduler_; }
  std::uint32_t unreserved() const { return capacity_ - reserved_; }
  void reserve(std::uint32_t entries);
  // Drops the completions of the queue pair.
  void release(const Connection& owner, std::uint32_t entries);

  struct Entry {
    fabric::WorkCompletion completion;
    Connection* owner = nullptr;
    std::uint32_t places = 0;  // that it gives back
  };
  void push(const Entry& entry);

 private:
  fabric::FiberScheduler& scheduler_;
  std::uint32_t capacity_;
  std::uint32_t reserved_ = 0;
  std::deque<Entry> entries_;
  fabric::WaitList waiters_;
};

}  // namespace falafel::stream
