#include "tools/scenarios/sctbench/programs.h"

#include <fmt/format.h>

#include "explorer/check.h"
#include "fabric/fabric.h"

namespace falafel::sctbench {
namespace {

using fabric::word_bytes;

constexpr std::uint64_t a = 0 * word_bytes;
constexpr std::uint64_t b = 1 * word_bytes;
constexpr std::uint64_t data1 = 0 * word_bytes;
constexpr std::uint64_t data2 = 1 * word_bytes;
constexpr std::uint64_t lock1 = 2 * word_bytes;
constexpr std::uint64_t lock2 = 3 * word_bytes;
constexpr std::uint64_t first_created = 4 * word_bytes;  // a word for each thread
constexpr std::uint64_t minus_one = ~std::uint64_t{0};

std::uint64_t created(std::uint32_t thread) { return first_created + thread * word_bytes; }

// The accesses of one thread. Each is a step, so others may come before it.
class Thread {
 public:
  Thread(fabric::Host& host, fabric::MemoryBlock& memory) : host_(host), memory_(memory) {}

  std::uint64_t load(std::uint64_t offset) {
    begin_step();
    return memory_.load(offset);
  }
  void store(std::uint64_t offset, std::uint64_t value) {
    begin_step();
    memory_.store(offset, value);
  }
  void lock(std::uint64_t offset) {
    begin_step();
    while (memory_.compare_and_swap(offset, 0, 1) != 0) {
      memory_.wait_until_changed(offset, 1, fabric::never_ns);
    }
  }
  void unlock(std::uint64_t offset) { store(offset, 0); }

 private:
  void begin_step() {
    if (has_begun_) host_.yield();
    has_begun_ = true;
  }

  fabric::Host& host_;
  fabric::MemoryBlock& memory_;
  bool has_begun_ = false;
};

void write_reordered(Thread& thread) {
  thread.store(a, 1);
  thread.store(b, minus_one);
}

// Looks at the variables in the order of the original condition, which tests `a` again.
bool sees_order(Thread& thread) {
  if (thread.load(a) == 0 && thread.load(b) == 0) return true;
  return thread.load(a) == 1 && thread.load(b) == minus_one;
}

void write_two_stages(Thread& thread) {
  thread.lock(lock1);
  thread.store(data1, 1);
  thread.unlock(lock1);
  thread.lock(lock2);
  thread.store(data2, thread.load(data1) + 1);
  thread.unlock(lock2);
}

bool sees_both_stages(Thread& thread) {
  thread.lock(lock1);
  const std::uint64_t first = thread.load(data1);
  thread.unlock(lock1);
  if (first == 0) return true;
  thread.lock(lock2);
  const std::uint64_t second = thread.load(data2);
  thread.unlock(lock2);
  return second == first + 1;
}

class Program {
 public:
  Program(check::World& world, const Subject& subject) : world_(world), subject_(subject) {}

  void run() {
    world_.host({.name = "main"}, false, [this](fabric::Host& host) { create_threads(host); });
    for (std::uint32_t thread = 0; thread < threads(); ++thread) {
      world_.host({.name = fmt::format("thread {}", thread)}, false,
                  [this, thread](fabric::Host& host) { run_thread(host, thread); });
    }
    world_.run();
  }

 private:
  std::uint32_t threads() const { return subject_.writers + subject_.readers; }

  // The host that comes first allocates the memory of all.
  fabric::MemoryBlock& memory_of_all(fabric::Host& host) {
    if (memory_ == nullptr) memory_ = host.allocate_memory(created(threads())).value();
    return *memory_;
  }

  void create_threads(fabric::Host& host) {
    Thread main(host, memory_of_all(host));
    for (std::uint32_t thread = 0; thread < threads(); ++thread) main.store(created(thread), 1);
  }

  void run_thread(fabric::Host& host, std::uint32_t number) {
    fabric::MemoryBlock& memory = memory_of_all(host);
    memory.wait_until_changed(created(number), 0, fabric::never_ns);
    Thread thread(host, memory);
    if (number < subject_.writers) {
      is_reorder() ? write_reordered(thread) : write_two_stages(thread);
    } else {
      const bool holds = is_reorder() ? sees_order(thread) : sees_both_stages(thread);
      world_.check(holds, std::string(assertion_property), "a reader sees one of two writes");
    }
  }

  bool is_reorder() const { return subject_.family == Family::reorder; }

  check::World& world_;
  const Subject& subject_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
};

// The steps of all threads and their creation. PCT places its changes among them.
std::uint64_t steps_of(const Subject& subject) {
  const std::uint64_t of_writer = subject.family == Family::reorder ? 2 : 7;
  const std::uint64_t of_reader = subject.family == Family::reorder ? 4 : 6;
  return (of_writer + 1) * subject.writers + (of_reader + 1) * subject.readers;
}

}  // namespace

std::vector<Subject> subjects() {
  return {{"reorder_3", Family::reorder, 2, 1},      {"reorder_4", Family::reorder, 3, 1},
          {"reorder_5", Family::reorder, 4, 1},      {"reorder_10", Family::reorder, 9, 1},
          {"reorder_20", Family::reorder, 10, 10},   {"reorder_50", Family::reorder, 40, 10},
          {"reorder_100", Family::reorder, 99, 1},   {"twostage", Family::twostage, 1, 1},
          {"twostage_20", Family::twostage, 10, 10}, {"twostage_50", Family::twostage, 40, 10},
          {"twostage_100", Family::twostage, 99, 1}};
}

std::unique_ptr<check::WorldProgram> make_program(const Subject& subject,
                                                  sim::StrategyKind strategy) {
  check::Network network = check::unscaled_network();
  network.adjust = [strategy, steps = steps_of(subject)](sim::SimulationOptions& options) {
    options = {.strategy = strategy, .pct_depth = 3, .pct_steps = steps, .step_limit = 100'000};
  };
  return check::program(
      subject.name, [subject](check::World& world) { Program(world, subject).run(); },
      std::move(network));
}

}  // namespace falafel::sctbench
