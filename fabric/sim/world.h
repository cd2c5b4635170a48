// The state that the parts of one simulated run share: the choices, the trace, the actors that can
// move, the clock, and the tables of hosts, queue pairs and registered memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "fabric/assert.h"
#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/random.h"
#include "fabric/sim/late_words.h"
#include "fabric/sim/memory.h"
#include "fabric/sim/options/options.h"
#include "fabric/sim/scheduler.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/strategy.h"
#include "fabric/sim/timing/cost_model.h"
#include "fabric/sim/timing/timed_answers.h"
#include "fabric/sim/touches.h"
#include "fabric/sim/trace.h"
#include "fabric/sim/word_waits.h"

namespace falafel::sim {

class ChosenFaults;
class CompletionQueueState;
class Fiber;
class Handshake;
class Host;
class QueuePairActor;
class SharedReceiveQueueState;

inline constexpr std::size_t first_arena_bytes = 8'192;  // further blocks grow
// The initial room of tables. Most runs are short and need no more.
inline constexpr std::size_t usual_count = 16;

// A timer that calls a function.
class CallbackTimer final : public Timer {
 public:
  explicit CallbackTimer(std::function<void()> callback) : callback_(std::move(callback)) {}
  void expired() override { callback_(); }

 private:
  std::function<void()> callback_;
};

// Destroys an object of a world. The arena of the world releases its memory.
struct Destroy {
  template <typename Object>
  void operator()(Object* object) const {
    std::destroy_at(object);
  }
};
template <typename Object>
using Owned = std::unique_ptr<Object, Destroy>;

struct World {
  // `profile`: of a timed run; null otherwise.
  World(const SimulationOptions& run_options, Strategy& run_strategy,
        fabric::FiberStackPool& stack_pool, TraceObserver* observer,
        const timing::Profile* profile);
  ~World();

  // A question that has one answer is not asked.
  std::uint64_t choose(ChoiceKind kind, std::uint64_t bound, Answers sufficient = all_answers) {
    if (bound == 1) return 0;
    return dice != nullptr ? dice->below(bound) : ask(kind, bound, sufficient);
  }
  // Returns which of the actors that can move makes the next step.
  Actor& choose_actor() {
    const std::size_t movable = ready.size();
    if (movable == 1) return ready.at(0);
    return ready.at(draws_schedule ? dice->below(movable) : ask_for_actor());
  }
  // Returns true about once in `rate` calls, and never for a rate of 0.
  bool chance(ChoiceKind kind, std::uint64_t rate, Answers sufficient = yes_or_no) {
    return rate != 0 && choose(kind, rate, sufficient) == 0;
  }

  // Returns whether a fault that is drawn per packet, message or registration strikes now.
  bool strikes(FaultKind kind, ChoiceKind choice) {
    if (chosen_faults != nullptr) return options.fault_rate(kind) > 0 && is_chosen_now(choice);
    return trace.step() <= options.last_fault_step && chance(choice, options.fault_rate(kind));
  }

  void touch(Touchable object, std::uint32_t number, Access access) {
    if (touches != nullptr) report_touch(object, number, access);
  }
  // A part of the object, which only steps of lanes tell apart.
  void touch_part(Touchable object, std::uint32_t number, Access access, std::uint64_t begin,
                  std::uint64_t end) {
    if (part_touches != nullptr) part_touches->touch({object, number, access, begin, end});
  }
  void touch_memory(const MemoryBlock& block, std::uint64_t offset, std::uint64_t length_bytes,
                    Access access) {
    if (touches == nullptr) return;
    touches->touch({Touchable::memory, block.number(), access, offset, offset + length_bytes});
  }

  void stop() {
    last_step = trace.step();
    next_check_step = 0;
  }
  bool is_at_last_step() const { return trace.step() >= last_step; }

  void count(SimulatorProbe probe) { ++simulator_probes[static_cast<std::size_t>(probe)]; }
  void count(FaultKind kind) {
    ++faults[static_cast<std::size_t>(kind)];
    trace.record({.kind = EventKind::fault, .detail = static_cast<std::uint8_t>(kind)});
  }

  // Makes an object that exists as long as this world.
  template <typename Object, typename... Arguments>
  Owned<Object> make(Arguments&&... arguments) {
    void* place = arena.allocate(sizeof(Object), alignof(Object));
    return Owned<Object>(new (place) Object(std::forward<Arguments>(arguments)...));
  }

  // The time, plus the time that the running fiber has spent since it began its step.
  std::uint64_t local_time_ns() const {
    return costs == nullptr || running == nullptr ? trace.time_ns() : time_of_running_ns();
  }
  // Tells if an actor moves before the next timer expires.
  bool moves_before_next_timer() const {
    if (ready.size() == 0) return false;
    if (costs == nullptr) return true;
    const std::uint64_t due_ns = ready.earliest_ns();
    return due_ns <= trace.time_ns() || due_ns < timers.next_ns();
  }

  // The running fiber. Only fibers may make calls that wait.
  Fiber& current_fiber() {
    FALAFEL_ASSERT(running != nullptr, "a call that waits was made outside of any fiber");
    return *running;
  }
  void report_touch(Touchable object, std::uint32_t number, Access access);
  std::uint64_t time_of_running_ns() const;
  std::uint64_t ask(ChoiceKind kind, std::uint64_t bound, Answers sufficient);
  std::size_t ask_for_actor();
  Host* find_host(std::string_view name);
  QueuePairActor* find_queue_pair(std::uint32_t number);
  bool is_chosen_now(ChoiceKind choice);

  const SimulationOptions options;
  const std::unique_ptr<timing::CostModel> costs;  // null unless the run is timed
  std::unique_ptr<timing::TimedAnswers> timed_answers;
  Strategy& strategy;
  fabric::RandomGenerator* const dice = strategy.dice();
  const bool draws_schedule = dice != nullptr && strategy.draws_schedule();
  StepObserver* const step_observer = strategy.step_observer();
  const bool tells_lanes = step_observer != nullptr && step_observer->tells_lanes();
  StepObserver* touches = step_observer;  // null if nobody hears of touches now
  // Null as well unless it tells lanes.
  StepObserver* part_touches = tells_lanes ? step_observer : nullptr;
  std::uint64_t told_deadlines = 0;  // as TimerQueue::visit_newer counts them
  std::vector<Lane> lanes;           // that can make the next step; kept to reuse its memory
  fabric::FiberStackPool& stacks;
  Trace trace;

  // Most runs are short, so allocating their objects one by one would dominate them.
  std::pmr::monotonic_buffer_resource arena{first_arena_bytes};

  ReadySet ready{arena, usual_count};
  TimerQueue timers{arena, usual_count};
  WordWaits word_waits;
  LateWords late_words;  // outlives the memory blocks of the world, whose destructors use it
  // Expires with the world. It does not own anything; blocks that a program keeps longer ask it.
  std::shared_ptr<const World> lifetime{this, [](const World*) {}};
  RegionTable regions{arena, usual_count, options.distinct_keys};
  std::pmr::vector<Owned<Host>> hosts{&arena};
  std::pmr::vector<Owned<Fiber>> fibers{&arena};  // by FiberId
  std::pmr::vector<Owned<CompletionQueueState>> completion_queues{&arena};
  std::pmr::vector<Owned<SharedReceiveQueueState>> shared_receive_queues{&arena};
  std::pmr::vector<Owned<QueuePairActor>> queue_pairs{&arena};  // by number - 1
  std::pmr::vector<Owned<Handshake>> handshakes{&arena};
  std::unique_ptr<ChosenFaults> chosen_faults;  // null without the option max_chosen_faults
  std::uint32_t next_protection_domain = 1;
  std::uint32_t next_block = 0;
  std::uint32_t next_event = 0;

  Fiber* running = nullptr;
  const Fiber* spinning = nullptr;  // the fiber that ended the run, because it never waits
  std::uint64_t unfinished_foreground_fibers = 0;

  std::uint64_t last_step = options.step_limit;  // stop() makes it earlier
  std::uint64_t next_check_step = 0;             // until then, only timers can be due

  std::array<std::uint64_t, fault_kind_count> faults{};
  std::array<std::uint64_t, simulator_probe_count> simulator_probes{};
  std::array<std::uint64_t, fabric::max_probes> probes{};
};

// As long as it exists, touches are not reported. For looks that only say what can happen next.
class Unobserved {
 public:
  explicit Unobserved(World& world)
      : world_(world),
        touches_(std::exchange(world.touches, nullptr)),
        part_touches_(std::exchange(world.part_touches, nullptr)) {}
  ~Unobserved() {
    world_.touches = touches_;
    world_.part_touches = part_touches_;
  }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  World& world_;
  StepObserver* touches_;
  StepObserver* part_touches_;
};

}  // namespace falafel::sim
