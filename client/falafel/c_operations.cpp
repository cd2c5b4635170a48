#include "falafel/c_operations.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/client/client.h"
#include "fabric/fabric.h"
#include "fabric/realtime/host.h"
#include "falafel/c_buffer.h"
#include "falafel/c_conversions.h"
#include "falafel/c_status.h"

namespace falafel {
namespace {

// The layout of falafel_operation belongs to the ABI.
static_assert(sizeof(falafel_operation) == 56);
static_assert(offsetof(falafel_operation, time_to_live_ns) ==
              offsetof(falafel_operation, buffer_bytes));
static_assert(offsetof(falafel_operation, user_data) == 48);
// So does that of falafel_part.
static_assert(sizeof(falafel_part) == 32);

std::span<const std::byte> bytes_of(const void* bytes, std::size_t length) {
  return {static_cast<const std::byte*>(bytes), length};
}

falafel_status deliver(std::span<const std::byte> value, falafel_operation& operation) {
  operation.value_bytes = value.size();
  if (operation.value == nullptr) {
    operation.value = std::malloc(std::max<std::size_t>(value.size(), 1));
    if (operation.value == nullptr) return FALAFEL_OUT_OF_MEMORY;
  } else if (value.size() > operation.buffer_bytes) {
    return FALAFEL_BUFFER_TOO_SMALL;
  }
  std::copy(value.begin(), value.end(), static_cast<std::byte*>(operation.value));
  return FALAFEL_OK;
}

// `client` is a client or a batch of it.
template <typename Client>
falafel_status perform_get(falafel_operation& operation, Client& client) {
  falafel_status delivered = FALAFEL_OK;
  const auto result =
      client.get(bytes_of(operation.key, operation.key_bytes),
                 [&](std::span<const std::byte> value) { delivered = deliver(value, operation); });
  return result.answer == engine::Answer::found ? delivered : status_of_reading(result.answer);
}

template <typename Client>
falafel_status perform_get_into(falafel_operation& operation, Client& client, const Store* store) {
  if (operation.value == nullptr) return FALAFEL_INVALID;
  auto& part = *static_cast<falafel_part*>(operation.value);
  const auto buffer = buffer_of(part, store);
  if (!buffer) return FALAFEL_INVALID;
  const auto result = client.get(bytes_of(operation.key, operation.key_bytes), *buffer);
  return deliver_into(result, *buffer, part, operation.value_bytes);
}

template <typename Client>
falafel_status perform_set(const falafel_operation& operation, std::uint64_t time_to_live_ns,
                           Client& client) {
  if (operation.value == nullptr && operation.value_bytes > 0) return FALAFEL_INVALID;
  return status_of(client.set(bytes_of(operation.key, operation.key_bytes),
                              bytes_of(operation.value, operation.value_bytes), time_to_live_ns));
}

template <typename Client>
falafel_status perform_or_throw(falafel_operation& operation, Client& client, const Store* store) {
  if (operation.key == nullptr) return FALAFEL_INVALID;
  switch (operation.kind) {
    case FALAFEL_GET: return perform_get(operation, client);
    case FALAFEL_GET_INTO: return perform_get_into(operation, client, store);
    case FALAFEL_SET: return perform_set(operation, 0, client);
    case FALAFEL_SET_EXPIRING: return perform_set(operation, operation.time_to_live_ns, client);
    case FALAFEL_DELETE:
      return status_of_reading(client.remove(bytes_of(operation.key, operation.key_bytes)).answer);
  }
  return FALAFEL_INVALID;
}

// `store`: to which the client belongs; null: that of a cluster, which has no buffers.
template <typename Client>
falafel_status perform(falafel_operation& operation, Client& client, const Store* store) {
  return guarded([&] { return perform_or_throw(operation, client, store); });
}

std::optional<engine::Operation> counted_as(int kind) {
  switch (kind) {
    case FALAFEL_GET:
    case FALAFEL_GET_INTO: return engine::Operation::get;
    case FALAFEL_SET:
    case FALAFEL_SET_EXPIRING: return engine::Operation::set;
    case FALAFEL_DELETE: return engine::Operation::remove;
  }
  return std::nullopt;
}

}  // namespace

falafel_status perform_in_batch(falafel_operation& operation, engine::Batch& batch) {
  return perform(operation, batch, nullptr);
}

// Operations on the fibers of one connected client.
class OperationRunner::Round {
 public:
  Round(OperationRunner& runner, OperationSource& source, fabric::Host& host,
        engine::Client& client)
      : runner_(runner), source_(source), host_(host), client_(client) {}

  void run() {
    for (;;) {
      const std::uint64_t seen = std::atomic_ref(runner_.news_).load();
      while (falafel_operation* const operation = next()) start(*operation);
      if (fibers_ == 0) return;
      wait_for_news(seen);
    }
  }

 private:
  // All hosts of stores run in real time.
  void wait_for_news(std::uint64_t seen) {
    static_cast<fabric::RealTimeHost&>(host_).scheduler().wait_until_changed(runner_.news_, seen,
                                                                             fabric::never_ns);
  }

  falafel_operation* next() {
    if (fibers_ >= runner_.max_in_flight_ || !goes_on()) return nullptr;
    return source_.take();
  }

  // Before other threads get their turn, a round does some work, so that each of them progresses.
  bool goes_on() {
    return client_.is_connected() &&
           (started_ < runner_.max_in_flight_ || !runner_.turns_.is_awaited());
  }

  void start(falafel_operation& operation) {
    ++fibers_;
    const falafel_status spawned = guarded([&] {
      host_.spawn({.name = "operation"}, [this, &operation] { work(&operation); });
      return FALAFEL_OK;
    });
    if (spawned != FALAFEL_OK) work(&operation);  // on this fiber
  }

  void work(falafel_operation* operation) {
    while (operation != nullptr) {
      ++started_;
      run_one(*operation);
      operation = goes_on() ? source_.take() : nullptr;
    }
    --fibers_;
    runner_.notify();
  }

  // An operation that found the connection broken runs again once, after the client has
  // reconnected. Its status says that it already ran.
  void run_one(falafel_operation& operation) {
    const bool ran_before = operation.status == FALAFEL_DISCONNECTED;
    operation.status = perform(operation, client_, &runner_.store_);
    if (operation.status == FALAFEL_DISCONNECTED && !ran_before) {
      source_.put_back(operation);
    } else {
      source_.finish(operation);
    }
  }

  OperationRunner& runner_;
  OperationSource& source_;
  fabric::Host& host_;
  engine::Client& client_;
  std::uint32_t fibers_ = 0;
  std::uint64_t started_ = 0;
};

void OperationRunner::run(OperationSource& source) {
  while (!source.is_empty()) {
    const std::lock_guard turn(turns_);
    bool connected = false;
    const falafel_status status = guarded([&] {
      connected = store_.run([&](fabric::Host& host, engine::Client& client) {
        Round(*this, source, host, client).run();
      });
      return connected ? FALAFEL_OK : FALAFEL_DISCONNECTED;
    });
    if (status != FALAFEL_OK) end_all(source, status);
  }
}

void OperationRunner::end_all(OperationSource& source, falafel_status status) {
  while (falafel_operation* const operation = source.take()) {
    end(*operation, status);
    source.finish(*operation);
  }
}

void OperationRunner::end(falafel_operation& operation, falafel_status status) {
  operation.status = status;
  const auto counted = counted_as(operation.kind);
  if (status != FALAFEL_DISCONNECTED || !counted) return;
  // Without memory, the metrics do not count it.
  guarded([&] {
    store_.count_disconnected(*counted);
    return FALAFEL_OK;
  });
}

void OperationRunner::notify() { ++std::atomic_ref(news_); }

// An operation that found the connection broken runs again once, as in a round.
void OperationRunner::run_batch(std::span<falafel_operation> operations) {
  std::vector<falafel_operation*> left;
  left.reserve(operations.size());
  for (falafel_operation& operation : operations) {
    operation.status = FALAFEL_OK;
    left.push_back(&operation);
  }
  while (!left.empty()) {
    const std::lock_guard turn(turns_);
    const falafel_status status = run_some(left);
    std::erase(left, nullptr);
    if (status == FALAFEL_OK) continue;
    for (falafel_operation* const operation : left) end(*operation, status);
    return;
  }
}

// Sets the operations that have ended to null. Error: no other can run now.
falafel_status OperationRunner::run_some(std::span<falafel_operation*> left) {
  return guarded([&] {
    const bool connected = store_.run([&](fabric::Host& /*host*/, engine::Client& client) {
      std::uint64_t started = 0;
      client.run_batch(left.size(), [&](engine::Batch& batch, std::size_t index) {
        falafel_operation& operation = *left[index];
        if (!client.is_connected()) return;
        if (started >= max_in_flight_ && turns_.is_awaited()) return;
        ++started;
        const bool ran_before = operation.status == FALAFEL_DISCONNECTED;
        operation.status = perform(operation, batch, &store_);
        if (operation.status != FALAFEL_DISCONNECTED || ran_before) left[index] = nullptr;
      });
    });
    return connected ? FALAFEL_OK : FALAFEL_DISCONNECTED;
  });
}

}  // namespace falafel
