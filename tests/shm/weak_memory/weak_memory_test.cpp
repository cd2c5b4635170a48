// The words that two processes share, on processors that order less than x86-64 does: all
// executions of small programs that use the headers of fabric/shm. Each order is needed: with a
// weaker one, an execution violates what must hold.
#include <gtest/gtest.h>

#include <functional>

#include "tests/shm/weak_memory/atomics.h"

namespace falafel::shm {

// The system, as far as the headers need it: one thread that may sleep.
struct ModeledFutex {
  static inline bool is_asleep = false;
};
// The system compares the word under a lock, so it finds the last value.
void sleep(WakeWord& word, std::uint64_t /*deadline_ns*/) {
  std::uint32_t announced = 1;
  ModeledFutex::is_asleep = word.sleeping.compare_exchange_strong(announced, 1);
}
void wake_sleeper(WakeWord& word) {
  word.sleeping.store(0);
  ModeledFutex::is_asleep = false;
}

namespace {

using weak_memory::Access;
using weak_memory::Explored;
using weak_memory::Model;
using weak_memory::Weakened;

template <typename Program>
Explored explore(const std::function<Weakened(Program&)>& mutant = nullptr) {
  return weak_memory::for_each_execution([&](Model& model) {
    Program program;
    if (mutant) model.weaken(mutant(program));
    program.add_threads(model);
    model.run();
    return program.holds();
  });
}

template <typename Program>
void expect_to_hold() {
  const Explored explored = explore<Program>();
  EXPECT_TRUE(explored.holds) << "in execution " << explored.executions;
  EXPECT_GT(explored.executions, 1U);
}

template <typename Program>
void expect_to_fail(const std::function<Weakened(Program&)>& mutant) {
  const Explored explored = explore<Program>(mutant);
  EXPECT_FALSE(explored.holds) << "in " << explored.executions << " executions";
}

// A word as it is in memory blocks.
struct alignas(word_bytes) Word {
  std::byte* address() { return reinterpret_cast<std::byte*>(&bits); }
  std::uint64_t* place() { return &bits; }
  std::uint64_t bits = 0;
};

// -------------------------------------------------------------------------------------------------
// The gate: the owner closes it while a peer is about to carry out a WRITE (QueuePair::may_go_on,
// Link::close, Link::is_drained).
class FencedPeer {
 public:
  void add_threads(Model& model) {
    model.add_thread([this] {
      const Busy busy(gate);
      if (gate.state.load(std::memory_order_acquire) != GateState::ready) return;
      fails_ |= is_drained_;
      is_inside_ = true;
      store_word(data.address(), 1);
      has_written_ = true;
      is_inside_ = false;
    });
    model.add_thread([this] {
      gate.state.store(GateState::closed);
      if (gate.peer_is_busy.load() != 0) return;
      is_drained_ = true;
      fails_ |= is_inside_;
      const bool must_see_it = has_written_;
      fails_ |= must_see_it && load_word(data.address()) != 1;
    });
  }
  bool holds() const { return !fails_; }

  Gate gate{GateState::ready, 0, 0, 0, 0, 0, 0};
  Word data;

 private:
  bool is_inside_ = false;
  bool has_written_ = false;
  bool is_drained_ = false;
  bool fails_ = false;
};

TEST(WeakMemory, NoRequestIsInProgressOnceThePeerIsDrained) { expect_to_hold<FencedPeer>(); }

TEST(WeakMemory, TheGateNeedsItsOrders) {
  expect_to_fail<FencedPeer>([](FencedPeer& /*program*/) { return Weakened{}; });
  expect_to_fail<FencedPeer>([](FencedPeer& program) {
    return Weakened{.word = &program.gate.peer_is_busy, .access = Access::store};
  });
  expect_to_fail<FencedPeer>([](FencedPeer& program) {
    return Weakened{.word = &program.gate.peer_is_busy,
                    .access = Access::load,
                    .order = std::memory_order_acquire};
  });
  expect_to_fail<FencedPeer>([](FencedPeer& program) {
    return Weakened{
        .word = &program.gate.state, .access = Access::store, .order = std::memory_order_release};
  });
}

// -------------------------------------------------------------------------------------------------
// Two hosts each store a word, and then READ the word of the other. Posting orders that
// (docs/fabric.md, "When others see a store of the processor").
class ReadAfterStore {
 public:
  void add_threads(Model& model) {
    for (std::size_t own = 0; own < 2; ++own) {
      model.add_thread([this, own] {
        store_word(words_[own].address(), 1);
        const Busy busy(gates_[1 - own]);
        found_[own] = load_word(words_[1 - own].address());
      });
    }
  }
  bool holds() const { return found_[0] != 0 || found_[1] != 0; }

 private:
  std::array<Gate, 2> gates_{};
  std::array<Word, 2> words_{};
  std::array<std::uint64_t, 2> found_{};
};

TEST(WeakMemory, AChainActsAfterTheStoresBeforeIt) { expect_to_hold<ReadAfterStore>(); }

TEST(WeakMemory, AChainNeedsTheFenceOfBusy) {
  expect_to_fail<ReadAfterStore>([](ReadAfterStore& /*program*/) { return Weakened{}; });
}

// -------------------------------------------------------------------------------------------------
// Two messages through a receive queue of one slot. The two words without an order stand for the
// fields of the slot.
class TwoMessages {
 public:
  void add_threads(Model& model) {
    model.add_thread([this] { receive(); });
    model.add_thread([this] { send(); });
  }
  bool holds() const { return !fails_; }

  struct Queue {
    Endpoint endpoint{};
    ReceiveSlot slot{};
  } queue;

 private:
  void receive() {
    for (std::uint32_t number = 1; number <= 2; ++number) {
      described_.store(number, std::memory_order_relaxed);
      publish_posted(queue.endpoint, number);
      if (filled_by_peer(queue.endpoint) != number) return;
      fails_ |= arrived_.load(std::memory_order_relaxed) != number;
      fails_ |= load_word(buffer_.address()) != number;
    }
  }
  void send() {
    for (std::uint32_t number = 1; number <= 2; ++number) {
      if (oldest_posted(queue.endpoint) == nullptr) return;
      fails_ |= described_.load(std::memory_order_relaxed) != number;
      store_word(buffer_.address(), number);
      arrived_.store(number, std::memory_order_relaxed);
      count_as_filled(queue.endpoint);
    }
  }

  std::modeled_atomic<std::uint64_t> described_;
  std::modeled_atomic<std::uint64_t> arrived_;
  Word buffer_;
  bool fails_ = false;
};

TEST(WeakMemory, AMessageIsWholeOnceItIsCounted) { expect_to_hold<TwoMessages>(); }

TEST(WeakMemory, TheReceiveQueueNeedsItsOrders) {
  for (const Access access : {Access::load, Access::store}) {
    expect_to_fail<TwoMessages>([access](TwoMessages& program) {
      return Weakened{.word = &program.queue.endpoint.posted, .access = access};
    });
    expect_to_fail<TwoMessages>([access](TwoMessages& program) {
      return Weakened{.word = &program.queue.endpoint.filled, .access = access};
    });
  }
}

// -------------------------------------------------------------------------------------------------
// A receiver looks for a message, and then sleeps, while one arrives.
class SleepingReceiver {
 public:
  SleepingReceiver() { ModeledFutex::is_asleep = false; }

  void add_threads(Model& model) {
    model.add_thread([this] {
      announce_sleep(wake_word);
      if (filled_by_peer(endpoint) == 0) sleep(wake_word, 0);
    });
    model.add_thread([this] {
      count_as_filled(endpoint);
      ring(wake_word);
    });
  }
  bool holds() const { return !ModeledFutex::is_asleep; }

  Endpoint endpoint{};
  WakeWord wake_word{};
};

TEST(WeakMemory, NobodySleepsThroughAMessage) { expect_to_hold<SleepingReceiver>(); }

TEST(WeakMemory, WakingNeedsItsOrders) {
  expect_to_fail<SleepingReceiver>([](SleepingReceiver& /*program*/) { return Weakened{}; });
  expect_to_fail<SleepingReceiver>([](SleepingReceiver& program) {
    return Weakened{.word = &program.endpoint.filled,
                    .access = Access::store,
                    .order = std::memory_order_release};
  });
  expect_to_fail<SleepingReceiver>([](SleepingReceiver& program) {
    return Weakened{.word = &program.wake_word.sleeping,
                    .access = Access::load,
                    .order = std::memory_order_acquire};
  });
}

// -------------------------------------------------------------------------------------------------
// A WRITE of two words, while the responder looks for the second one.
class WrittenWords {
 public:
  void add_threads(Model& model) {
    model.add_thread(
        [this] { copy_words(placed[0].address(), written_[0].address(), written_.size()); });
    model.add_thread([this] {
      const bool sees_second = load_word(placed[1].address()) != 0;
      fails_ = sees_second && load_word(placed[0].address()) == 0;
    });
  }
  bool holds() const { return !fails_; }

  std::array<Word, 2> placed{};

 private:
  std::array<Word, 2> written_{Word{1}, Word{1}};
  bool fails_ = false;
};

// A READ of two words, while the responder stores them, the second one first.
class SampledWords {
 public:
  void add_threads(Model& model) {
    model.add_thread([this] {
      copy_words(found_[0].address(), sampled[0].address(), sampled.size());
      const bool has_first = load_word(found_[0].address()) != 0;
      fails_ = has_first && load_word(found_[1].address()) == 0;
    });
    model.add_thread([this] {
      store_word(sampled[1].address(), 1);
      store_word(sampled[0].address(), 1);
    });
  }
  bool holds() const { return !fails_; }

  std::array<Word, 2> sampled{};

 private:
  std::array<Word, 2> found_{};
  bool fails_ = false;
};

TEST(WeakMemory, WordsArePlacedInAddressOrder) { expect_to_hold<WrittenWords>(); }
TEST(WeakMemory, WordsAreSampledInAddressOrder) { expect_to_hold<SampledWords>(); }

TEST(WeakMemory, TheOrderOfAddressesNeedsItsOrders) {
  for (const Access access : {Access::load, Access::store}) {
    expect_to_fail<WrittenWords>([access](WrittenWords& program) {
      return Weakened{.word = program.placed[1].place(), .access = access};
    });
    expect_to_fail<SampledWords>([access](SampledWords& program) {
      return Weakened{.word = program.sampled[0].place(), .access = access};
    });
  }
}

// -------------------------------------------------------------------------------------------------
// A requester reads the entry of a key while the owner revokes it and gives it to another key.
class ReusedEntry {
 public:
  ReusedEntry() : entry{former, former, former, former, former} {}

  void add_threads(Model& model) {
    model.add_thread([this] {
      entry.control.store(0);
      publish_key(
          entry, {.control = later, .domain = later, .block = later, .begin = later, .end = later});
    });
    model.add_thread([this] { found_ = sample_key(entry); });
  }
  bool holds() const {
    return !found_ || (found_->domain == found_->control && found_->block == found_->control &&
                       found_->begin == found_->control && found_->end == found_->control);
  }

  KeyEntry entry;

 private:
  static constexpr std::uint64_t former = 1;
  static constexpr std::uint64_t later = 2;

  std::optional<KeyFields> found_;
};

TEST(WeakMemory, AnEntryIsOfOneKey) { expect_to_hold<ReusedEntry>(); }

TEST(WeakMemory, TheKeyTableNeedsItsOrders) {
  for (const Access access : {Access::load, Access::store}) {
    for (const auto word :
         {&KeyEntry::control, &KeyEntry::domain, &KeyEntry::block, &KeyEntry::begin}) {
      expect_to_fail<ReusedEntry>([access, word](ReusedEntry& program) {
        return Weakened{.word = &(program.entry.*word), .access = access};
      });
    }
  }
}

}  // namespace
}  // namespace falafel::shm
