#include "fabric/sim/host/host.h"

#include "fabric/sim/memory/memory.h"
#include "fabric/sim/network/queue_pair.h"

namespace falafel::sim {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

// A fiber is preempted at about one point in this number.
constexpr std::uint64_t preemption_point_rate = 4;

// Larger blocks fail with out_of_memory.
constexpr std::uint64_t max_block_bytes = std::uint64_t{1} << 36U;

class Event final : public fabric::Event {
 public:
  explicit Event(World& world) : world_(world), number_(world.next_event++) {}
  bool wait(std::uint64_t deadline_ns) override {
    touch();
    return world_.current_fiber().wait(&waiters_, deadline_ns, "an event");
  }
  void notify_all() override {
    touch();
    waiters_.wake_all();
  }

 private:
  void touch() const { world_.touch(Touchable::event, number_, Access::writes); }

  World& world_;
  std::uint32_t number_;
  fabric::WaitList waiters_;
};

}  // namespace

Host::Host(World& world, std::uint32_t index, const HostOptions& options,
           std::function<void(fabric::Host&)> boot)
    : world_(world),
      state_(world, index, options),
      boot_(std::move(boot)),
      devices_(&world.arena),
      fibers_(&world.arena),
      pause_timer_([this] { resume_fibers(); }),
      restart_timer_([this] { start(); }),
      landing_timer_([this] { release_landing(); }) {
  devices_.reserve(options.device_count);
  for (std::size_t count = 0; count < options.device_count; ++count) {
    devices_.push_back(world.make<Device>(world, state_));
  }
}

Host::~Host() = default;

fabric::Device& Host::device(std::size_t index) {
  FALAFEL_ASSERT(index < devices_.size(), "host {} has {} devices, not one of index {}", name(),
                 devices_.size(), index);
  return *devices_[index];
}

Result<std::shared_ptr<fabric::MemoryBlock>> Host::allocate_memory(std::uint64_t size_bytes) {
  if (size_bytes == 0) {
    return make_error(ErrorCode::invalid_argument, "size_bytes: 0; ask for at least one byte");
  }
  std::shared_ptr<MemoryBlock> block;
  if (size_bytes <= max_block_bytes)
    block = std::make_shared<MemoryBlock>(world_, state_, size_bytes);
  if (block == nullptr || block->data() == nullptr) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("{} bytes cannot be had on {}", size_bytes, name()));
  }
  return introduce(std::move(block));
}

// The memory that is there, and its content, depend on all that happened to the host.
Result<fabric::KeptMemory> Host::keep_memory(const std::string& name, std::uint64_t size_bytes) {
  touch_world();
  const auto found = kept_memory_.find(name);
  if (found == kept_memory_.end()) {
    auto block = allocate_memory(size_bytes);
    if (!block) return tl::unexpected(block.error());
    KeptBlock& kept = kept_memory_[name];
    kept.block = std::static_pointer_cast<MemoryBlock>(std::move(*block));
    return hand_out(kept, true);
  }
  KeptBlock& kept = found->second;
  if (kept.block->size_bytes() != size_bytes) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("size_bytes: {}, but '{}' of {} has {} bytes", size_bytes, name,
                                  state_.name(), kept.block->size_bytes()));
  }
  if (kept.incarnation == state_.incarnation() && !kept.program_block.expired()) {
    return make_error(ErrorCode::address_in_use,
                      fmt::format("{} keeps '{}' already; use another name", state_.name(), name));
  }
  end_landing_of_former_process();
  introduce(kept.block);
  return hand_out(kept, false);
}

Result<std::shared_ptr<fabric::MemoryBlock>> Host::reserve_memory(std::uint64_t size_bytes) {
  auto block = allocate_memory(size_bytes);
  if (block) static_cast<MemoryBlock&>(**block).reserve();
  return block;
}

Result<fabric::KeptMemory> Host::keep_reserved_memory(const std::string& name,
                                                      std::uint64_t size_bytes) {
  auto kept = keep_memory(name, size_bytes);
  if (kept && kept->is_new) static_cast<MemoryBlock&>(*kept->block).reserve();
  return kept;
}

// The program's pointer is another one than the simulator's, which registrations keep for ever.
fabric::KeptMemory Host::hand_out(KeptBlock& kept, bool is_new) const {
  const auto owner = std::make_shared<std::shared_ptr<MemoryBlock>>(kept.block);
  std::shared_ptr<fabric::MemoryBlock> block(owner, kept.block.get());
  kept.program_block = block;
  kept.incarnation = state_.incarnation();
  return {.block = std::move(block), .is_new = is_new};
}

// When a process ends, the kernel destroys its queue pairs, and the device writes what they have
// admitted before that. The processor of the next process sees it.
void Host::end_landing_of_former_process() const {
  for (const auto& queue_pair : world_.queue_pairs) {
    if (&queue_pair->host() == &state_) queue_pair->end_landing_after_close();
  }
}

std::shared_ptr<fabric::MemoryBlock> Host::adopt_memory(std::span<std::byte> memory) {
  return introduce(std::make_shared<MemoryBlock>(world_, state_, memory));
}

std::shared_ptr<fabric::MemoryBlock> Host::introduce(std::shared_ptr<MemoryBlock> block) const {
  world_.trace.introduce({.kind = SubjectKind::memory,
                          .number = block->number(),
                          .host = name(),
                          .block = block.get()});
  return block;
}

fabric::FiberId Host::spawn(const fabric::FiberOptions& options, std::function<void()> body) {
  world_.touch(Touchable::numbers, 0, Access::writes);
  const auto id = static_cast<fabric::FiberId>(world_.fibers.size());
  world_.fibers.push_back(world_.make<Fiber>(world_, state_, id, options, std::move(body)));
  world_.trace.introduce(
      {.kind = SubjectKind::fiber, .number = id, .host = name(), .name = options.name});
  Fiber& fiber = *world_.fibers.back();
  if (!state_.alive()) {
    fiber.unwind();  // the host is dead, so the fiber never runs
    return id;
  }
  fibers_.push_back(&fiber);
  if (paused_) world_.ready.hold(fiber);
  if (stopped_) fiber.count_in_program(false);
  return id;
}

Fiber& Host::own_fiber(fabric::FiberId fiber) const {
  FALAFEL_ASSERT(fiber < world_.fibers.size() && &world_.fibers[fiber]->host() == &state_,
                 "host {} has no fiber {}", name(), fiber);
  return *world_.fibers[fiber];
}

void Host::cancel(fabric::FiberId fiber) { own_fiber(fiber).cancel(); }

void Host::join(fabric::FiberId fiber) {
  Fiber& joined = own_fiber(fiber);
  world_.touch(Touchable::actor, joined.actor_id(), Access::writes);
  while (!joined.finished()) {
    world_.current_fiber().wait(&joined.joiners(), fabric::never_ns, "the end of a fiber");
  }
}

std::unique_ptr<fabric::Event> Host::create_event() { return std::make_unique<Event>(world_); }

void Host::sleep_until(std::uint64_t deadline_ns) {
  world_.current_fiber().wait(nullptr, deadline_ns, "the clock");
}

void Host::yield() { world_.current_fiber().yield(); }

void Host::preemption_point() {
  if (world_.chance(ChoiceKind::preemption, preemption_point_rate, only_first)) yield();
}

std::uint64_t Host::random(std::uint64_t bound) {
  return world_.choose(ChoiceKind::program, bound);
}

void Host::spend(fabric::Work work, std::uint64_t bytes) {
  if (world_.costs != nullptr) world_.spend(work, bytes);
}

void Host::count(const fabric::Probe& probe) {
  FALAFEL_ASSERT(probe.index < fabric::max_probes, "probe '{}' has index {}", probe.name,
                 probe.index);
  ++world_.probes[probe.index];
  if (world_.options.fault_after_probe > 0) world_.note_event(world_.probes[probe.index]);
}

void Host::start() {
  touch_world();
  if (state_.alive()) return;
  state_.begin_life();
  world_.trace.record({.kind = EventKind::host_started, .subject = state_.index()});
  state_.clock().boot();
  report_clock();
  spawn({.name = name()}, [this] { boot_(*this); });
}

void Host::set_wall_clock(std::int64_t error_ns) {
  state_.clock().set_wall_clock(error_ns);
  report_clock();
}

void Host::step_clock() {
  state_.clock().step();
  report_clock();
}

void Host::report_clock() const {
  world_.trace.show({.kind = EventKind::clock_set,
                     .subject = state_.index(),
                     .word = static_cast<std::uint64_t>(state_.clock().wall_error_ns()),
                     .previous_word = state_.clock().parts_per_million()});
}

// The peers are not notified, and requests that had been sent continue. Then the fibers unwind.
void Host::crash() {
  touch_world();
  if (!state_.alive()) return;
  state_.drain_stores();
  state_.end_life();
  world_.trace.record({.kind = EventKind::host_died, .subject = state_.index()});
  if (paused_) resume_fibers();
  for (const auto& queue_pair : world_.queue_pairs) {
    if (&queue_pair->host() == &state_) queue_pair->close();
  }
  unwind_fibers();
  for (const Fiber* fiber : fibers_) {
    FALAFEL_ASSERT(fiber->finished() || world_.running == fiber, "host {} is dead, but not {}",
                   name(), fiber->describe());
  }
  fibers_.clear();
}

void Host::unwind_fibers() {
  // Fibers must not spawn while they unwind, but canceling one fiber can finish another.
  for (std::size_t index = 0; index < fibers_.size(); ++index) fibers_[index]->unwind();
}

void Host::restart_after(std::uint64_t duration_ns) {
  world_.timers.set(restart_timer_, world_.trace.time_ns() + duration_ns);
}

void Host::pause(std::uint64_t duration_ns) {
  touch_world();
  if (!state_.alive()) return;
  if (!paused_) {
    for (Fiber* fiber : fibers_) world_.ready.hold(*fiber);
    report_pause(true);
  }
  paused_ = true;
  if (duration_ns == fabric::never_ns) stop();
  if (!stopped_) world_.timers.set(pause_timer_, world_.trace.time_ns() + duration_ns);
}

// The run does not wait for the fibers of this host any more.
void Host::stop() {
  stopped_ = true;
  world_.timers.cancel(pause_timer_);
  for (Fiber* fiber : fibers_) fiber->count_in_program(false);
}

void Host::resume_fibers() {
  touch_world();
  paused_ = false;
  if (std::exchange(stopped_, false)) {
    for (Fiber* fiber : fibers_) fiber->count_in_program(true);
  }
  world_.timers.cancel(pause_timer_);
  for (Fiber* fiber : fibers_) world_.ready.release(*fiber);
  report_pause(false);
}

void Host::report_pause(bool begins) const {
  world_.trace.report_pause({.kind = SubjectKind::host, .number = state_.index(), .host = name()},
                            begins);
}

void Host::break_connections() {
  touch_world();
  for (const auto& queue_pair : world_.queue_pairs) {
    if (&queue_pair->host() == &state_ && queue_pair->connection().reports_failures())
      queue_pair->break_connection();
  }
}

void Host::hold_landing(std::uint64_t duration_ns) {
  touch_world();
  state_.set_holds_landing(true);
  const bool ends = duration_ns != fabric::never_ns;
  world_.timers.set(landing_timer_, ends ? world_.trace.time_ns() + duration_ns : duration_ns);
}

void Host::release_landing() {
  touch_world();
  state_.set_holds_landing(false);
  world_.timers.cancel(landing_timer_);
  for (const auto& queue_pair : world_.queue_pairs) queue_pair->refresh();
}

void Host::stay_as_it_is() {
  if (state_.holds_landing()) release_landing();
  world_.timers.cancel(pause_timer_);
  world_.timers.cancel(restart_timer_);
}

void Host::touch_world() const { world_.touch(Touchable::world, 0, Access::writes); }

}  // namespace falafel::sim
