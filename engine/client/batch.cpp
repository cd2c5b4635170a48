#include "engine/client/batch.h"

#include <algorithm>
#include <exception>
#include <vector>

#include "engine/client/client.h"
#include "engine/client/delete.h"
#include "engine/client/get.h"
#include "engine/client/operation_context.h"
#include "engine/client/operation_observer.h"
#include "engine/client/session.h"
#include "engine/client/set.h"

namespace falafel::engine {
namespace {

// The fibers of a batch besides its caller's. If the caller is unwound, they are cancelled: they
// use what it owns.
class BatchFibers {
 public:
  explicit BatchFibers(fabric::Host& host) : host_(host) {}
  ~BatchFibers() {
    for (const fabric::FiberId fiber : fibers_) host_.cancel(fiber);
  }
  BatchFibers(const BatchFibers&) = delete;
  BatchFibers& operator=(const BatchFibers&) = delete;

  void spawn(std::size_t count, const std::function<void()>& body) {
    fibers_.reserve(count);
    while (fibers_.size() < count) fibers_.push_back(host_.spawn({.name = "batch"}, body));
  }
  void join() {
    for (const fabric::FiberId fiber : fibers_) host_.join(fiber);
    fibers_.clear();
  }

 private:
  fabric::Host& host_;
  std::vector<fabric::FiberId> fibers_;
};

// The session, and with it the observer's address, outlives the operation.
template <typename Perform>
auto observe(const OperationContext& context, Operation operation, const Perform& perform) {
  if (context.session->options().observer == nullptr) return perform();
  const std::shared_ptr<Session> session = context.session;
  OperationObserver* const observer = session->options().observer;
  const std::uint64_t begun = observer->begun();
  auto result = perform();
  observer->ended(operation, result.answer, result.statistics, begun);
  return result;
}

}  // namespace

GetResult Batch::get(std::span<const std::byte> key) {
  return observe(context_, Operation::get, [&] { return engine::get(context_, key); });
}

GetResult Batch::get(std::span<const std::byte> key,
                     const std::function<void(std::span<const std::byte>)>& use) {
  return observe(context_, Operation::get, [&] { return engine::get(context_, key, use); });
}

GetResult Batch::get(std::span<const std::byte> key, const ValueBuffer& buffer) {
  return observe(context_, Operation::get, [&] { return engine::get(context_, key, buffer); });
}

SetResult Batch::set(std::span<const std::byte> key, std::span<const std::byte> value,
                     std::uint64_t time_to_live_ns) {
  return observe(context_, Operation::set,
                 [&] { return engine::set(context_, key, value, time_to_live_ns); });
}

SetResult Batch::compare_and_set(std::span<const std::byte> key, const Condition& condition,
                                 std::span<const std::byte> value,
                                 const std::optional<std::uint64_t>& time_to_live_ns) {
  return observe(context_, Operation::set, [&] {
    return engine::compare_and_set(context_, key, condition, value, time_to_live_ns);
  });
}

DeleteResult Batch::remove(std::span<const std::byte> key) {
  return observe(context_, Operation::remove, [&] { return engine::remove(context_, key); });
}

void Client::run_batch(std::size_t count,
                       const std::function<void(Batch& batch, std::size_t index)>& operate) {
  Session& session = *context_->session;
  const auto fibers = static_cast<std::uint32_t>(
      std::min<std::size_t>(count, session.options().max_operations_in_flight));
  if (fibers == 0) return;
  const OperationContext context{
      .session = context_->session,
      .gathering = std::make_shared<Gathering>(session.requester(), fibers)};
  Batch batch(context);
  std::size_t next = 0;
  std::exception_ptr thrown;  // the first; no further operation begins after it
  const auto work = [&] {
    try {
      while (next < count) operate(batch, next++);
    } catch (const fabric::FiberCancelled&) {
      throw;
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
      next = count;
    }
    context.gathering->leave();
  };
  BatchFibers others(session.host());
  others.spawn(fibers - 1, work);
  work();
  others.join();
  if (thrown) std::rethrow_exception(thrown);
}

std::vector<GetResult> Client::get_many(std::span<const std::span<const std::byte>> keys) {
  std::vector<GetResult> results(keys.size());
  run_batch(keys.size(),
            [&](Batch& batch, std::size_t index) { results[index] = batch.get(keys[index]); });
  return results;
}

std::vector<GetResult> Client::get_many(
    std::span<const std::span<const std::byte>> keys,
    const std::function<void(std::size_t index, std::span<const std::byte> value)>& use) {
  std::vector<GetResult> results(keys.size());
  run_batch(keys.size(), [&](Batch& batch, std::size_t index) {
    results[index] =
        batch.get(keys[index], [&](std::span<const std::byte> value) { use(index, value); });
  });
  return results;
}

std::vector<GetResult> Client::get_many(std::span<const std::span<const std::byte>> keys,
                                        std::span<const ValueBuffer> buffers) {
  FALAFEL_ASSERT(buffers.size() == keys.size(), "{} keys have {} buffers", keys.size(),
                 buffers.size());
  std::vector<GetResult> results(keys.size());
  run_batch(keys.size(), [&](Batch& batch, std::size_t index) {
    results[index] = batch.get(keys[index], buffers[index]);
  });
  return results;
}

std::vector<SetResult> Client::set_many(std::span<const KeyAndValue> pairs) {
  std::vector<SetResult> results(pairs.size());
  run_batch(pairs.size(), [&](Batch& batch, std::size_t index) {
    const KeyAndValue& pair = pairs[index];
    results[index] = batch.set(pair.key, pair.value, pair.time_to_live_ns);
  });
  return results;
}

std::vector<DeleteResult> Client::remove_many(std::span<const std::span<const std::byte>> keys) {
  std::vector<DeleteResult> results(keys.size());
  run_batch(keys.size(),
            [&](Batch& batch, std::size_t index) { results[index] = batch.remove(keys[index]); });
  return results;
}

}  // namespace falafel::engine
