#include "fabric/sim/memory/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fabric/sim/memory/uncommitted_use.h"
#include "fabric/sim/run/fiber.h"
#include "fabric/sim/run/host_state.h"
#include "fabric/sim/run/world.h"
#include "fabric/sim/words/words.h"

namespace falafel::sim {
namespace {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;
using fabric::word_bytes;

constexpr std::size_t page_bytes = 4096;
// With processor_preemption, others move before about one access in this number. They may move
// before every access, because they need not make use of it.
constexpr std::uint64_t preemption_rate = 8;

// A call of the running fiber that looks at memory, and does not wait.
void count_call(World& world, Call::Kind kind, std::uint32_t block, std::uint64_t offset) {
  if (world.running != nullptr) world.running->count_call({kind, block, offset});
}

std::byte* allocate_zeroed_pages(std::uint64_t size_bytes) {
  const std::uint64_t whole_pages = (size_bytes + page_bytes - 1) / page_bytes * page_bytes;
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(page_bytes, whole_pages));
  if (memory != nullptr) std::memset(memory, 0, size_bytes);
  return memory;
}

}  // namespace

void MemoryBlock::Free::operator()(std::byte* memory) const { std::free(memory); }

MemoryBlock::MemoryBlock(World& world, HostState& host, std::uint64_t size_bytes)
    : MemoryBlock(world, host, std::span(allocate_zeroed_pages(size_bytes), size_bytes)) {
  own_memory_.reset(data_);
}

MemoryBlock::MemoryBlock(World& world, HostState& host, std::span<std::byte> owned_by_program)
    : world_(world),
      world_lifetime_(world.lifetime),
      host_(host),
      number_(world.next_block++),
      is_observed_(world.step_observer != nullptr),
      is_special_(is_observed_ || host.store_buffer() != nullptr),
      data_(owned_by_program.data()),
      size_bytes_(owned_by_program.size()) {}

MemoryBlock::~MemoryBlock() {
  // A program may keep the block after the simulation.
  if (data_ == nullptr || world_lifetime_.expired()) return;
  if (StoreBuffer* buffer = host_.store_buffer()) buffer->drain_stores_to(*this);
  show_newest(0, size_bytes_);
}

// The program sees its own stores. Observers see memory as it is. What they look at is no access of
// the step: those that judge it report that themselves (Simulation::touch).
void MemoryBlock::prepare_direct_access() {
  if (world_lifetime_.expired() || world_.trace.is_reporting()) return;
  if (StoreBuffer* const buffer = store_buffer()) buffer->drain_stores_to(*this);
  world_.touch_memory(number_, 0, size_bytes_, Access::writes);
}

// The buffer that holds or takes stores of the running fiber, if there is one.
inline StoreBuffer* MemoryBlock::store_buffer() const {
  return world_.running == nullptr ? nullptr : host_.store_buffer();
}

fabric::FiberId MemoryBlock::running_fiber() const {
  return world_.running == nullptr ? 0 : world_.running->id();
}

inline void MemoryBlock::check_range(std::uint64_t offset, std::uint64_t length_bytes) const {
  FALAFEL_ASSERT(length_bytes <= size_bytes_ && offset <= size_bytes_ - length_bytes,
                 "host {}: access to bytes {}..+{} of a block of {}", host_.name(), offset,
                 length_bytes, size_bytes_);
}

inline std::byte* MemoryBlock::word(std::uint64_t offset) const {
  check_range(offset, word_bytes);
  FALAFEL_ASSERT(offset % word_bytes == 0, "host {}: word at offset {} is not aligned",
                 host_.name(), offset);
  return data_ + offset;
}

inline void MemoryBlock::maybe_preempt() {
  if (world_.options.processor_preemption && world_.running != nullptr &&
      world_.chance(ChoiceKind::preemption, preemption_rate, only_first)) {
    world_.current_fiber().yield();
  }
}

// Looking at late words can make them visible, so it changes the memory.
void MemoryBlock::report_access(std::uint64_t offset, std::uint64_t length_bytes, Access access) {
  const bool looks = world_.options.late_visibility && access == Access::reads;
  if (looks) world_.touch(Touchable::visibility, 0, Access::reads);
  world_.touch_memory(number_, offset, length_bytes, looks ? Access::writes : access);
}

// The processor sees its own changes.
void MemoryBlock::show_newest(std::uint64_t offset, std::uint64_t length_bytes) {
  if (!world_.late_words.empty()) world_.late_words.forget(data_ + offset, length_bytes);
}

// The processor reads: replaces memory from `begin` on, in `seen`, by what it sees.
inline void MemoryBlock::look(const std::byte* begin, std::span<std::byte> seen,
                              Answers late_words) {
  if (!world_.late_words.empty()) look_at_late_words(begin, seen, late_words);
  const StoreBuffer* const buffer = store_buffer();
  if (buffer == nullptr || buffer->empty()) return;
  world_.count(SimulatorProbe::load_passed_store);
  buffer->show_own_stores(begin, seen);
}

// A run of neighbors among the late words stays late; the others become visible. `sufficient` are
// the numbers of late words that an exploration goes through.
void MemoryBlock::look_at_late_words(const std::byte* begin, std::span<std::byte> seen,
                                     Answers sufficient) {
  const std::uint64_t count = world_.late_words.count_in(begin, seen.size());
  if (count == 0) return;
  const std::uint64_t late = world_.choose(ChoiceKind::visibility, count + 1, sufficient);
  const std::uint64_t first =
      late == 0 || late == count ? 0 : world_.choose(ChoiceKind::visibility, count);
  if (late > 0) world_.count(SimulatorProbe::processor_saw_old_word);
  world_.late_words.look(begin, seen, {.first = first, .count = late});
}

std::uint64_t MemoryBlock::load(std::uint64_t offset) { return load(offset, all_answers); }

std::uint64_t MemoryBlock::load(std::uint64_t offset, Answers late_words) {
  std::byte* address = word(offset);
  count_call(world_, Call::Kind::word, number_, offset);
  maybe_preempt();
  note_use(offset, word_bytes, "a load");
  touch_as_processor(offset, word_bytes, Access::reads);
  std::uint64_t value = load_word(address);
  look(address, std::as_writable_bytes(std::span(&value, 1)), late_words);
  world_.trace.show({.kind = EventKind::processor_read,
                     .offset = offset,
                     .word = value,
                     .block = this,
                     .fiber = running_fiber()});
  return value;
}

void MemoryBlock::store(std::uint64_t offset, std::uint64_t value) {
  word(offset);
  count_call(world_, Call::Kind::word, number_, offset);
  maybe_preempt();
  if (StoreBuffer* const buffer = store_buffer()) {
    buffer->store(*this, running_fiber(), offset, value);
  } else {
    change_word(running_fiber(), offset, value);
  }
}

void MemoryBlock::change_word(fabric::FiberId fiber, std::uint64_t offset, std::uint64_t value) {
  note_use(offset, word_bytes, "a store");
  touch_as_processor(offset, word_bytes, Access::writes);
  world_.trace.record({.kind = EventKind::processor_access,
                       .offset = offset,
                       .word = value,
                       .block = this,
                       .fiber = fiber});
  change(offset, std::as_bytes(std::span(&value, 1)));
}

void MemoryBlock::change_bytes(fabric::FiberId fiber, std::uint64_t offset,
                               std::span<const std::byte> source) {
  note_use(offset, source.size(), "a store");
  touch_as_processor(offset, source.size(), Access::writes);
  world_.trace.record({.kind = EventKind::processor_access,
                       .offset = offset,
                       .data = source,
                       .block = this,
                       .fiber = fiber});
  change(offset, source);
}

void MemoryBlock::change(std::uint64_t offset, std::span<const std::byte> source) {
  host_.note_processor_store(data_ + offset, source.size());
  show_newest(offset, source.size());
  std::memmove(data_ + offset, source.data(), source.size());  // may be there already
  world_.word_waits.wake(data_ + offset, source.size());
}

// A locked instruction.
std::uint64_t MemoryBlock::compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                            std::uint64_t desired) {
  std::byte* address = word(offset);
  count_call(world_, Call::Kind::word, number_, offset);
  maybe_preempt();
  host_.drain_stores();
  note_use(offset, word_bytes, "a compare-and-swap");
  show_newest(offset, word_bytes);
  const std::uint64_t found = load_word(address);
  touch_as_processor(offset, word_bytes, found == expected ? Access::writes : Access::reads);
  if (found == expected) {
    world_.trace.record({.kind = EventKind::processor_access,
                         .offset = offset,
                         .word = desired,
                         .block = this,
                         .replaced_word = found,
                         .fiber = running_fiber()});
    change(offset, std::as_bytes(std::span(&desired, 1)));
  } else {
    world_.trace.show({.kind = EventKind::processor_read,
                       .offset = offset,
                       .word = found,
                       .block = this,
                       .fiber = running_fiber()});
  }
  return found;
}

// Calls move(position, length) for the range in ascending order: in one piece, or in several that
// meet at word boundaries if others move in between.
template <typename Move>
void MemoryBlock::move_torn(std::uint64_t offset, std::uint64_t length_bytes, Move move) {
  check_range(offset, length_bytes);
  count_call(world_, Call::Kind::bytes, number_, offset);
  if (world_.costs != nullptr) world_.spend(fabric::Work::copy, length_bytes);
  std::uint64_t done = 0;
  while (done < length_bytes) {
    maybe_preempt();
    std::uint64_t length = length_bytes - done;
    if (world_.options.processor_preemption && length > word_bytes) {
      const std::uint64_t words = (length + word_bytes - 1) / word_bytes;
      const std::uint64_t border =
          (offset + done +
           (1 + world_.choose(ChoiceKind::preemption, words, only_first)) * word_bytes) /
          word_bytes * word_bytes;
      length = std::min(length, border - offset - done);
    }
    move(done, length);
    done += length;
  }
}

void MemoryBlock::read(std::uint64_t offset, std::span<std::byte> destination) {
  move_torn(offset, destination.size(), [&](std::uint64_t position, std::uint64_t length) {
    note_use(offset + position, length, "a read");
    touch_as_processor(offset + position, length, Access::reads);
    const std::span<std::byte> seen = destination.subspan(position, length);
    std::memcpy(seen.data(), data_ + offset + position, length);
    look(data_ + offset + position, seen);
    world_.trace.show({.kind = EventKind::processor_read,
                       .offset = offset + position,
                       .data = seen,
                       .block = this,
                       .fiber = running_fiber()});
  });
}

void MemoryBlock::write(std::uint64_t offset, std::span<const std::byte> source) {
  move_torn(offset, source.size(), [&](std::uint64_t position, std::uint64_t length) {
    const std::span<const std::byte> piece = source.subspan(position, length);
    if (StoreBuffer* const buffer = store_buffer()) {
      buffer->write(*this, running_fiber(), offset + position, piece);
    } else {
      change_bytes(running_fiber(), offset + position, piece);
    }
  });
}

void MemoryBlock::reserve() {
  uncommitted_.add(0, size_bytes_);
  world_.has_reserved_memory = true;
}

void note_device_change(const fabric::MemoryBlock& block, std::uint64_t offset,
                        std::uint64_t length_bytes, std::string_view request) {
  static_cast<const MemoryBlock&>(block).note_use(offset, length_bytes, request);
}

// A peer may READ released memory in any state that it can have then.
Result<void> MemoryBlock::commit(std::uint64_t offset, std::uint64_t length_bytes) {
  check_range(offset, length_bytes);
  const std::uint64_t end = offset + length_bytes;
  if (!uncommitted_.intersects(offset, end)) return {};
  world_.touch(Touchable::world, 0, Access::writes);
  if (world_.strikes(FaultKind::registration_failure, ChoiceKind::registration)) {
    world_.count(FaultKind::registration_failure);
    return make_error(
        ErrorCode::out_of_memory,
        fmt::format("{} has no {} bytes left; use less, or try again", host_.name(), length_bytes));
  }
  uncommitted_.remove(offset, end);
  return {};
}

void MemoryBlock::release(std::uint64_t offset, std::uint64_t length_bytes) {
  check_range(offset, length_bytes);
  if (StoreBuffer* const buffer = store_buffer()) buffer->drain_stores_to(*this);
  world_.touch(Touchable::world, 0, Access::writes);
  world_.touch_memory(number_, offset, length_bytes, Access::writes);
  show_newest(offset, length_bytes);
  enum Content : std::uint8_t { unchanged, zero, garbage, content_count };
  const std::uint64_t content = world_.choose(ChoiceKind::program, content_count);
  constexpr int garbage_byte = 0xa5;
  if (content == zero) std::memset(data_ + offset, 0, length_bytes);
  if (content == garbage) std::memset(data_ + offset, garbage_byte, length_bytes);
  uncommitted_.add(offset, offset + length_bytes);
  world_.has_reserved_memory = true;
}

void MemoryBlock::report_uncommitted(std::uint64_t offset, std::uint64_t length_bytes,
                                     std::string_view user) const {
  const bool is_committed = !uncommitted_.intersects(offset, offset + length_bytes);
  if (is_committed || !world_.uncommitted_use.empty() || world_lifetime_.expired()) return;
  world_.uncommitted_use = fmt::format(
      "{} of bytes {}..+{} of a block of {} used memory that is not committed, at step {}", user,
      offset, length_bytes, host_.name(), world_.trace.step());
}

void MemoryBlock::expect_store(std::uint64_t offset) {
  count_call(world_, Call::Kind::bytes, number_, offset);
  maybe_preempt();
}

void MemoryBlock::note_store(std::uint64_t offset, std::uint64_t length_bytes) {
  check_range(offset, length_bytes);
  change_bytes(running_fiber(), offset, {data_ + offset, length_bytes});
}

void MemoryBlock::write_through(std::uint64_t offset, std::span<const std::byte> source) {
  move_torn(offset, source.size(), [&](std::uint64_t position, std::uint64_t length) {
    change_bytes(running_fiber(), offset + position, source.subspan(position, length));
  });
}

// A look that finds the word late again changes nothing, and the fiber makes its next step at any
// later time. So an exploration need not go through it.
std::uint64_t MemoryBlock::wait_until_changed(std::uint64_t offset, std::uint64_t seen,
                                              std::uint64_t deadline_ns) {
  const std::byte* address = word(offset);
  Fiber& fiber = world_.current_fiber();
  std::uint64_t found = load(offset);
  for (bool is_over = false; found == seen && !is_over; found = load(offset, only_first)) {
    if (load_word(address) == seen) {
      WordWaits::Wait wait(world_.word_waits, address, seen);
      fiber.note_call({Call::Kind::word, number_, offset});
      fiber.wait(&wait.waiters(), deadline_ns, "a word of memory to change");
    } else {
      // The word is in memory, and late (late_visibility), or an own store hides it.
      host_.drain_stores();
      fiber.note_call({Call::Kind::word, number_, offset});
      fiber.wait(nullptr, 0, "a word to become visible");
    }
    if (fiber.cancelled()) return seen;
    is_over = fiber.read_clock(host_.clock()) >= deadline_ns;
  }
  return found;
}

}  // namespace falafel::sim
