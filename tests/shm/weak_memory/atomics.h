// Includes the parts of fabric/shm that two processes share, with atomics that access the model
// instead of memory. A source that includes this links no code of fabric/shm.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "tests/shm/weak_memory/model.h"

// The headers name them in this namespace.
namespace std {  // NOLINT(cert-dcl58-cpp)

// Has the layout of std::atomic and those of its functions that the headers call.
template <typename Type>
class modeled_atomic {
 public:
  static constexpr bool is_always_lock_free = true;
  using Model = falafel::weak_memory::Model;

  modeled_atomic() = default;
  modeled_atomic(Type initial) : initial_(initial) {}  // NOLINT(google-explicit-constructor)
  Type load(memory_order order = memory_order_seq_cst) const {
    return from_bits(Model::current().load(this, to_bits(initial_), order));
  }
  void store(Type value, memory_order order = memory_order_seq_cst) {
    Model::current().store(this, to_bits(initial_), to_bits(value), order);
  }
  bool compare_exchange_strong(Type& expected, Type desired) {
    const auto wanted = to_bits(expected);
    const auto found = Model::current().exchange(
        this, to_bits(initial_), memory_order_seq_cst,
        [wanted](Model::Value value) { return value == wanted; },
        [desired](Model::Value /*value*/) { return to_bits(desired); });
    expected = from_bits(found);
    return found == wanted;
  }

 private:
  static Model::Value to_bits(Type value) { return static_cast<Model::Value>(value); }
  static Type from_bits(Model::Value bits) { return static_cast<Type>(bits); }

  Type initial_{};
};

// Refers to a word that has no type of an atomic.
template <typename Type>
class modeled_atomic_ref {
 public:
  explicit modeled_atomic_ref(Type& word) : word_(word) {}
  Type load(memory_order order = memory_order_seq_cst) const {
    return static_cast<Type>(falafel::weak_memory::Model::current().load(&word_, word_, order));
  }
  void store(Type value, memory_order order = memory_order_seq_cst) const {
    falafel::weak_memory::Model::current().store(&word_, word_, value, order);
  }

 private:
  Type& word_;
};

inline void modeled_thread_fence(memory_order order) {
  falafel::weak_memory::Model::current().fence(order);
}

}  // namespace std

// The parts for other processors than x86-64.
#pragma push_macro("__x86_64__")
#undef __x86_64__
#define atomic modeled_atomic
#define atomic_ref modeled_atomic_ref
#define atomic_thread_fence modeled_thread_fence
#include "fabric/shm/busy.h"
#include "fabric/shm/copy.h"
#include "fabric/shm/key_entry.h"
#include "fabric/shm/layout.h"
#include "fabric/shm/receive_ring.h"
#include "fabric/shm/wake.h"
#undef atomic
#undef atomic_ref
#undef atomic_thread_fence
#pragma pop_macro("__x86_64__")
