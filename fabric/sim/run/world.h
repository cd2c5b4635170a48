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
#include "fabric/sim/options/options.h"
#include "fabric/sim/run/scheduler.h"
#include "fabric/sim/run_result.h"
#include "fabric/sim/strategies/strategy.h"
#include "fabric/sim/timing/cost_model.h"
#include "fabric/sim/timing/timed_answers.h"
#include "fabric/sim/touches.h"
#include "fabric/sim/trace.h"
#include "fabric/sim/words/late_words.h"
#include "fabric/sim/words/region_table.h"
#include "fabric/sim/words/word_waits.h"

namespace falafel::sim {

class CompletionQueueState;
class Fiber;
class Handshake;
class Host;
class HostState;
class QueuePairActor;
class Responder;
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

// Destroys an object of a world. The arena of the world releases its memory. Whoever makes an
// object knows how to destroy it, so the world need not know the types of its objects.
template <typename Object>
struct Destroy {
  void operator()(Object* object) const { destroy(object); }
  void (*destroy)(Object*) = nullptr;
};
template <typename Object>
using Owned = std::unique_ptr<Object, Destroy<Object>>;

// Decides whether faults that are no actors strike, with the option max_chosen_faults.
class FaultChooser {
 public:
  virtual bool strikes(ChoiceKind choice) = 0;

 protected:
  FaultChooser() = default;
  ~FaultChooser() = default;
};

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
    if (fault_chooser != nullptr) {
      return options.fault_rate(kind) > 0 && fault_chooser->strikes(choice);
    }
    return trace.step() <= options.last_fault_step && chance(choice, options.fault_rate(kind));
  }

  // A program has counted a probe, for the nth time (SimulationOptions::fault_after_probe).
  void note_event(std::uint64_t count) {
    if (trace.step() >= options.last_fault_step || options.max_chosen_faults > 0) return;
    if (!chance(ChoiceKind::fault_step, options.fault_after_probe * count)) return;
    has_event_for_faults = true;
    next_check_step = 0;
  }

  void touch(Touchable object, std::uint32_t number, Access access) {
    if (hears(object)) report_touch(object, number, access);
  }
  // A part of the object, which only steps of lanes tell apart.
  void touch_part(Touchable object, std::uint32_t number, Access access, std::uint64_t begin,
                  std::uint64_t end) {
    if (hears_parts) step_observer->touch({object, number, access, begin, end});
  }
  void touch_memory(std::uint32_t block, std::uint64_t offset, std::uint64_t length_bytes,
                    Access access) {
    if (!hears(Touchable::memory)) return;
    step_observer->touch({Touchable::memory, block, access, offset, offset + length_bytes});
  }
  bool hears(Touchable object) const { return (heard & touchables(object)) != 0; }

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
    return Owned<Object>(new (place) Object(std::forward<Arguments>(arguments)...),
                         {[](Object* object) { std::destroy_at(object); }});
  }

  // The same for an object that is known by a base, whose destructor is virtual.
  template <typename Base, typename Object, typename... Arguments>
  Owned<Base> make_as(Arguments&&... arguments) {
    void* place = arena.allocate(sizeof(Object), alignof(Object));
    return Owned<Base>(new (place) Object(std::forward<Arguments>(arguments)...),
                       {[](Base* object) { std::destroy_at(object); }});
  }

  // The time, plus the time that the running fiber has spent since it began its step.
  std::uint64_t local_time_ns() const {
    return costs == nullptr ? trace.time_ns() : trace.time_ns() + timing::to_ns(spent_ps);
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
  // In a timed run: the processor works for this time in the present step of the running fiber.
  void spend(std::uint64_t duration_ps) {
    if (running != nullptr) spent_ps += duration_ps;
  }
  // The same for a kind of work.
  void spend(fabric::Work work, std::uint64_t bytes) { spend(costs->work_ps(work, bytes)); }
  // The queue pair of that number as a responder. Null if there is none.
  Responder* find_responder(std::uint32_t number) {
    return number - 1 < responders.size() ? responders[number - 1] : nullptr;
  }
  void report_touch(Touchable object, std::uint32_t number, Access access);
  std::uint64_t ask(ChoiceKind kind, std::uint64_t bound, Answers sufficient);
  std::size_t ask_for_actor();

  const SimulationOptions options;
  const std::unique_ptr<timing::CostModel> costs;  // null unless the run is timed
  std::unique_ptr<timing::TimedAnswers> timed_answers;
  Strategy& strategy;
  fabric::RandomGenerator* const dice = strategy.dice();
  const bool draws_schedule = dice != nullptr && strategy.draws_schedule();
  StepObserver* const step_observer = strategy.step_observer();
  const bool tells_lanes = step_observer != nullptr && step_observer->tells_lanes();
  // The touches that the observer hears of now.
  Touchables heard = step_observer == nullptr ? no_touchables : step_observer->heard_touchables();
  bool hears_parts = tells_lanes;
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
  std::pmr::vector<HostState*> host_states{&arena};  // theirs
  std::pmr::vector<Owned<Fiber>> fibers{&arena};     // by FiberId
  std::pmr::vector<Owned<CompletionQueueState>> completion_queues{&arena};
  std::pmr::vector<Owned<SharedReceiveQueueState>> shared_receive_queues{&arena};
  std::pmr::vector<Owned<QueuePairActor>> queue_pairs{&arena};  // by number - 1
  std::pmr::vector<Responder*> responders{&arena};              // theirs
  std::pmr::vector<Owned<Handshake>> handshakes{&arena};
  FaultChooser* fault_chooser = nullptr;  // null without the option max_chosen_faults
  std::uint32_t next_protection_domain = 1;
  std::uint32_t next_block = 0;
  std::uint32_t next_event = 0;

  Fiber* running = nullptr;
  std::uint64_t spent_ps = 0;       // by the running fiber in its present step, in a timed run
  const Fiber* spinning = nullptr;  // the fiber that ended the run, because it never waits
  std::uint64_t unfinished_foreground_fibers = 0;
  bool has_reserved_memory = false;  // there may be memory that is not committed
  std::string uncommitted_use;       // RunResult::uncommitted_use

  std::uint64_t last_step = options.step_limit;  // stop() makes it earlier
  bool has_event_for_faults = false;             // which a fault follows
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
        heard_(std::exchange(world.heard, no_touchables)),
        hears_parts_(std::exchange(world.hears_parts, false)) {}
  ~Unobserved() {
    world_.heard = heard_;
    world_.hears_parts = hears_parts_;
  }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  World& world_;
  Touchables heard_;
  bool hears_parts_;
};

}  // namespace falafel::sim
