// The asynchronous calls of the C interface: a thread that runs submitted operations.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <stop_token>
#include <thread>

#include "falafel/c_ended.h"
#include "falafel/c_operations.h"
#include "falafel/falafel.h"

namespace falafel {

// Thread-safe.
class AsyncOperations final : private OperationSource {
 public:
  AsyncOperations(AsyncRunner& runner, EndedOperations& ended) : runner_(runner), ended_(ended) {}
  ~AsyncOperations() override;  // waits until all operations have ended
  AsyncOperations(const AsyncOperations&) = delete;
  AsyncOperations& operator=(const AsyncOperations&) = delete;

  // Must have been called before submit(). Throws std::bad_alloc or std::system_error.
  void start();
  // See falafel.h. The list has an element for each operation, so that one can end without memory.
  void submit(std::list<falafel_operation*>& operations);

 private:
  bool is_empty() override;
  falafel_operation* take() override;
  void put_back(falafel_operation& operation) override;
  void finish(falafel_operation& operation) override;

  void run(const std::stop_token& stop);

  AsyncRunner& runner_;
  EndedOperations& ended_;
  std::mutex mutex_;  // protects what follows
  std::condition_variable_any submitted_;
  // Elements move from list to list. Those in flight are interchangeable: an operation that leaves
  // takes any.
  std::list<falafel_operation*> pending_;
  std::list<falafel_operation*> in_flight_;
  std::jthread thread_;
};

}  // namespace falafel
