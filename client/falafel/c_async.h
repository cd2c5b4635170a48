// The asynchronous calls of the C interface: a thread that runs submitted operations, and a queue
// of those that have ended.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <thread>

#include "falafel/c_operations.h"
#include "falafel/falafel.h"

namespace falafel {

// Thread-safe.
class AsyncOperations final : private OperationSource {
 public:
  explicit AsyncOperations(OperationRunner& runner) : runner_(runner) {}
  ~AsyncOperations() override;  // waits until all operations have ended
  AsyncOperations(const AsyncOperations&) = delete;
  AsyncOperations& operator=(const AsyncOperations&) = delete;

  // See falafel.h. submit() throws std::bad_alloc or std::system_error if it starts none.
  void submit(std::span<falafel_operation> operations);
  std::size_t poll(std::span<falafel_operation*> ended, std::uint64_t timeout_ns);
  int descriptor();

 private:
  bool is_empty() override;
  falafel_operation* take() override;
  void put_back(falafel_operation& operation) override;
  void finish(falafel_operation& operation) override;

  void run(const std::stop_token& stop);
  void show_on_descriptor();

  OperationRunner& runner_;
  std::mutex mutex_;  // protects what follows
  std::condition_variable_any submitted_;
  std::condition_variable has_ended_;
  // submit() allocates an element for each operation, and the element moves from list to list, so
  // an operation can end without memory. Elements in flight are interchangeable: an operation that
  // leaves takes any.
  std::list<falafel_operation*> pending_;
  std::list<falafel_operation*> in_flight_;
  std::list<falafel_operation*> ended_;
  std::size_t unfinished_ = 0;  // pending or in flight
  int descriptor_ = -1;         // an eventfd, readable if ended_ is not empty
  std::jthread thread_;         // runs from the first submit() on
};

}  // namespace falafel
