// Counts the operations that began before the server last asked for their end. An operation lasts
// from its call to its answer: also while it waits for buffers, and although it restarts, which
// makes it a new one in quiescence.h.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace falafel::engine {

class OldOperations {
 public:
  explicit OldOperations(std::function<void()> on_none_left)
      : on_none_left_(std::move(on_none_left)) {}

  class Lifetime {
   public:
    explicit Lifetime(OldOperations& operations)
        : operations_(operations), question_(operations.question_) {
      ++operations_.young_;
    }
    ~Lifetime() { operations_.end(question_); }
    Lifetime(const Lifetime&) = delete;
    Lifetime& operator=(const Lifetime&) = delete;

   private:
    OldOperations& operations_;
    std::uint64_t question_;  // the number of questions before the operation
  };

  // From now on, all operations that have begun are old.
  void on_asked() {
    ++question_;
    old_ += std::exchange(young_, 0);
  }
  bool are_left() const { return old_ > 0; }

 private:
  void end(std::uint64_t question) {
    if (question == question_) {
      --young_;
    } else if (--old_ == 0) {
      on_none_left_();
    }
  }

  std::function<void()> on_none_left_;
  std::uint64_t question_ = 0;
  std::uint64_t young_ = 0;
  std::uint64_t old_ = 0;
};

}  // namespace falafel::engine
