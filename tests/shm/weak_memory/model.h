// Memory of processors that order less than x86-64 does, as C++ describes it. Every word keeps all
// its values, and every thread knows how far it has seen each word. A load may return any value
// from there on, so it may be late. An acquiring load that returns a releasing store's value learns
// what that thread had seen. Sequentially consistent accesses and fences are in one order, as C++20
// says.
//
// The threads are fibers. Before each access, the next thread is a choice, and so is the value that
// a load returns. for_each_execution() goes through all of them.
//
// Not modeled: a store that takes effect before an earlier load, and one that comes earlier in the
// order of a word than a store that has already taken effect.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fabric/assert.h"
#include "fabric/fiber_context.h"

namespace falafel::weak_memory {

using Place = std::size_t;  // of a value among those of its word; the initial one has 0

// How far a thread has seen each word.
class View {
 public:
  Place at(const void* word) const {
    const auto found = places_.find(word);
    return found == places_.end() ? 0 : found->second;
  }
  void reach(const void* word, Place place) {
    Place& reached = places_[word];
    reached = std::max(reached, place);
  }
  void join(const View& other) {
    for (const auto& [word, place] : other.places_) reach(word, place);
  }

 private:
  std::map<const void*, Place> places_;
};

// The answers to the questions of one execution; after it, those of the next one.
class Choices {
 public:
  std::size_t choose(std::size_t alternatives) {
    if (alternatives < 2) return 0;
    if (asked_ == answers_.size()) answers_.push_back({.answer = 0, .alternatives = alternatives});
    FALAFEL_ASSERT(answers_[asked_].alternatives == alternatives, "an execution is not repeatable");
    return answers_[asked_++].answer;
  }
  // Returns whether there is another execution.
  bool advance() {
    asked_ = 0;
    while (!answers_.empty() && answers_.back().answer + 1 == answers_.back().alternatives) {
      answers_.pop_back();
    }
    if (answers_.empty()) return false;
    ++answers_.back().answer;
    return true;
  }

 private:
  struct Answer {
    std::size_t answer;
    std::size_t alternatives;
  };
  std::vector<Answer> answers_;
  std::size_t asked_ = 0;
};

// An access to make weaker than the code asks for: a mutant. Of a fence, the word is null.
enum class Access : std::uint8_t { load, store, exchange, fence };
struct Weakened {
  const void* word = nullptr;
  Access access = Access::fence;
  std::memory_order order = std::memory_order_relaxed;
};

// One execution. The words hold their initial values; the model has the later ones.
class Model {
 public:
  using Value = std::uint64_t;

  Model(Choices& choices, fabric::FiberStackPool& stacks) : choices_(choices), stacks_(stacks) {
    current_ = this;
  }
  ~Model() { current_ = nullptr; }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // The accesses of words reach it from here.
  static Model& current() {
    FALAFEL_ASSERT(current_ != nullptr, "a word is accessed outside of an execution");
    return *current_;
  }

  void weaken(const Weakened& weakened) { weakened_.push_back(weakened); }
  void add_thread(std::function<void()> body) {
    threads_.push_back(std::make_unique<Thread>(*this, std::move(body)));
  }
  // Runs all threads to their ends.
  void run() {
    while (true) {
      std::vector<Thread*> unfinished;
      for (const auto& thread : threads_) {
        if (!thread->context.finished()) unfinished.push_back(thread.get());
      }
      if (unfinished.empty()) return;
      running_ = unfinished[choices_.choose(unfinished.size())];
      running_->context.resume();
      running_ = nullptr;
    }
  }

  Value load(const void* word, Value initial, std::memory_order order) {
    yield();
    return load_now(word, initial, weakened(word, Access::load, order));
  }
  void store(const void* word, Value initial, Value value, std::memory_order order) {
    yield();
    store_now(word, initial, value, {}, weakened(word, Access::store, order));
  }
  // Stores next(value) unless `is_wanted` refuses the value. Returns the value.
  Value exchange(const void* word, Value initial, std::memory_order order,
                 const std::function<bool(Value)>& is_wanted,
                 const std::function<Value(Value)>& next) {
    yield();
    order = weakened(word, Access::exchange, order);
    std::vector<Message>& messages = messages_of(word, initial);
    // Nothing comes between the load and the store, so it finds the last value. One that stores
    // nothing is a load, and may find an earlier one.
    const Value last = messages.back().value;
    if (!is_wanted(last)) return load_now(word, initial, order);
    const View carried = messages.back().view;
    see(word, messages, messages.size() - 1, order);
    store_now(word, initial, next(last), carried, order);
    return last;
  }
  void fence(std::memory_order order) {
    yield();
    order = weakened(nullptr, Access::fence, order);
    if (order == std::memory_order_relaxed) return;
    FALAFEL_ASSERT(order == std::memory_order_seq_cst, "other fences are not modeled");
    Thread& thread = *running_;
    thread.seen.join(thread.seen_without_acquiring);
    thread.seen.join(stores_in_order_);
    thread.seen.join(fences_in_order_);
    fences_in_order_.join(thread.seen);
    thread.seen_at_fence = thread.seen;
  }

 private:
  struct Message {
    Value value;
    View view;  // what an acquiring load of it learns
  };
  struct Thread {
    Thread(Model& model, std::function<void()> body_of_thread)
        : body(std::move(body_of_thread)),
          context(
              model.stacks_, "thread", [](void* self) { static_cast<Thread*>(self)->body(); },
              this) {}
    std::function<void()> body;
    View seen;
    View seen_without_acquiring;  // what a fence would make it see
    View seen_at_fence;           // what its stores publish after a fence
    fabric::FiberContext context;
  };

  void yield() {
    FALAFEL_ASSERT(running_ != nullptr, "a word is accessed by no thread of the execution");
    running_->context.suspend();
  }
  std::memory_order weakened(const void* word, Access access, std::memory_order order) const {
    for (const Weakened& weakened : weakened_) {
      if (weakened.word == word && weakened.access == access) return weakened.order;
    }
    return order;
  }
  static bool acquires(std::memory_order order) {
    return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
  }
  static bool releases(std::memory_order order) {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
  }
  std::vector<Message>& messages_of(const void* word, Value initial) {
    std::vector<Message>& messages = words_[word];
    if (messages.empty()) messages.push_back({.value = initial, .view = {}});
    return messages;
  }
  void see(const void* word, const std::vector<Message>& messages, Place place,
           std::memory_order order) {
    running_->seen.reach(word, place);
    (acquires(order) ? running_->seen : running_->seen_without_acquiring)
        .join(messages[place].view);
  }
  Value load_now(const void* word, Value initial, std::memory_order order) {
    const std::vector<Message>& messages = messages_of(word, initial);
    Place first = running_->seen.at(word);
    if (order == std::memory_order_seq_cst) {
      first = std::max({first, stores_in_order_.at(word), fences_in_order_.at(word)});
    }
    const Place place = first + choices_.choose(messages.size() - first);
    see(word, messages, place, order);
    return messages[place].value;
  }
  void store_now(const void* word, Value initial, Value value, const View& carried,
                 std::memory_order order) {
    std::vector<Message>& messages = messages_of(word, initial);
    const Place place = messages.size();
    running_->seen.reach(word, place);
    View view = releases(order) ? running_->seen : running_->seen_at_fence;
    view.reach(word, place);
    view.join(carried);
    messages.push_back({.value = value, .view = std::move(view)});
    if (order == std::memory_order_seq_cst) stores_in_order_.reach(word, place);
  }

  static inline Model* current_ = nullptr;

  Choices& choices_;
  fabric::FiberStackPool& stacks_;
  std::vector<std::unique_ptr<Thread>> threads_;
  Thread* running_ = nullptr;
  std::vector<Weakened> weakened_;
  std::map<const void*, std::vector<Message>> words_;
  View stores_in_order_;  // the sequentially consistent ones
  View fences_in_order_;  // what the fences had seen
};

struct Explored {
  std::uint64_t executions = 0;
  bool holds = true;
};
// Calls `execute` with a new model for each execution, up to the first that fails. It adds the
// threads, runs them, and returns whether what must hold has held.
inline Explored for_each_execution(const std::function<bool(Model&)>& execute) {
  Choices choices;
  fabric::FiberStackPool stacks;
  Explored explored;
  do {
    Model model(choices, stacks);
    ++explored.executions;
    explored.holds = execute(model);
  } while (explored.holds && choices.advance());
  return explored;
}

}  // namespace falafel::weak_memory
