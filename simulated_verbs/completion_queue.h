// Completion queues. A queue that is armed raises one event, for the next completion that arrives
// after it was armed, and is then no longer armed.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"
#include "simulated_verbs/context.h"
#include "simulated_verbs/object_of_program.h"
#include "simulated_verbs/unacknowledged_events.h"

namespace falafel::simulated_verbs {

struct CompletionChannel;

struct CompletionQueueOptions {
  int entries = 0;
  void* context_of_program = nullptr;
  CompletionChannel* channel = nullptr;  // null: none
  int vector = 0;
};

struct CompletionQueue : ibv_cq_ex, ObjectOfProgram {
  CompletionQueue(Context& opened, std::unique_ptr<fabric::CompletionQueue> made,
                  const CompletionQueueOptions& options);
  ~CompletionQueue();
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;

  bool is_empty() const;
  // An empty poll lets others run. Returns a negative number if the queue has overrun.
  int poll(int most, ibv_wc* completions);
  // `solicited_only`: for failures and solicited messages, unless it is armed for all already.
  void arm(bool solicited_only);
  bool has_event();
  // Requires has_event().
  void take_event();

  Context& owner;
  std::unique_ptr<fabric::CompletionQueue> queue;
  std::uint32_t users = 0;  // queue pairs, each end counts
  UnacknowledgedEvents unacknowledged;
  ibv_wc current{};              // which ibv_start_poll or ibv_next_poll has taken last
  std::uint64_t current_ns = 0;  // when it was taken

 private:
  void note_event();
  std::uint64_t arrivals() const;  // of the kind for which it is armed
  bool has_overrun() const;

  enum class Armed : std::uint8_t { no, for_urgent, for_all };

  Armed armed_ = Armed::no;
  std::uint64_t armed_at_ = 0;  // how many completions of that kind had arrived then
  std::uint64_t events_ = 0;    // raised, and not taken
};

// Sets errno and returns null on error.
std::unique_ptr<CompletionQueue> make_completion_queue(Context& context,
                                                       const CompletionQueueOptions& options);

inline CompletionQueue& wrapper_of(ibv_cq_ex* cq) { return *static_cast<CompletionQueue*>(cq); }
// libibverbs converts in the same way (ibv_cq_ex_to_cq).
inline CompletionQueue& wrapper_of(ibv_cq* cq) {
  return wrapper_of(reinterpret_cast<ibv_cq_ex*>(cq));
}

}  // namespace falafel::simulated_verbs
