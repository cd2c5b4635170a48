// A simulated host: it makes its fibers, devices and memory, and it crashes and restarts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/host/device.h"
#include "fabric/sim/host_options.h"
#include "fabric/sim/run/fiber.h"
#include "fabric/sim/run/host_state.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

class MemoryBlock;

class Host final : public fabric::Host {
 public:
  Host(World& world, std::uint32_t index, const HostOptions& options,
       std::function<void(fabric::Host&)> boot);
  ~Host() override;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::string& name() const override { return state_.name(); }
  std::size_t device_count() const override { return devices_.size(); }
  fabric::Device& device(std::size_t index) override;
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> allocate_memory(
      std::uint64_t size_bytes) override;
  fabric::Result<fabric::KeptMemory> keep_memory(const std::string& name,
                                                 std::uint64_t size_bytes) override;
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> reserve_memory(
      std::uint64_t size_bytes) override;
  fabric::Result<fabric::KeptMemory> keep_reserved_memory(const std::string& name,
                                                          std::uint64_t size_bytes) override;
  fabric::FiberId spawn(const fabric::FiberOptions& options, std::function<void()> body) override;
  void cancel(fabric::FiberId fiber) override;
  bool is_cancelled() const override { return world_.current_fiber().cancelled(); }
  void set_cooperative(bool is_cooperative) override {
    world_.current_fiber().set_cooperative(is_cooperative);
  }
  void join(fabric::FiberId fiber) override;
  std::unique_ptr<fabric::Event> create_event() override;
  std::uint64_t now_ns() override {
    if (world_.running != nullptr) world_.running->count_call({Call::Kind::clock});
    return state_.clock().now_ns();
  }
  std::uint64_t wall_clock_ns() override {
    if (world_.running != nullptr) world_.running->count_call({Call::Kind::clock});
    return state_.clock().wall_clock_ns();
  }
  void sleep_until(std::uint64_t deadline_ns) override;
  void yield() override;
  void preemption_point() override;
  std::uint64_t random(std::uint64_t bound) override;
  void spend(fabric::Work work, std::uint64_t bytes) override;
  void count(const fabric::Probe& probe) override;

  std::shared_ptr<fabric::MemoryBlock> adopt_memory(std::span<std::byte> memory);

  World& world() const { return world_; }
  HostState& state() { return state_; }
  const HostState& state() const { return state_; }
  bool paused() const { return paused_; }
  bool stopped() const { return stopped_; }  // paused forever

  void start();  // the first time, or again after a crash
  void crash();
  void restart_after(std::uint64_t duration_ns);
  void pause(std::uint64_t duration_ns);  // never_ns: forever
  void set_wall_clock(std::int64_t error_ns);
  void step_clock();
  void break_connections();
  void hold_landing(std::uint64_t duration_ns);
  void stay_as_it_is();  // no pause ends, no restart happens any more
  void unwind_fibers();

 private:
  struct KeptBlock {
    std::shared_ptr<MemoryBlock> block;
    // The pointer that the program has to it, in that incarnation of the host.
    std::weak_ptr<fabric::MemoryBlock> program_block{};
    std::uint32_t incarnation = 0;
  };

  fabric::KeptMemory hand_out(KeptBlock& kept, bool is_new) const;
  void end_landing_of_former_process() const;
  void stop();
  std::shared_ptr<fabric::MemoryBlock> introduce(std::shared_ptr<MemoryBlock> block) const;
  void touch_world() const;
  void resume_fibers();
  void release_landing();
  void report_pause(bool begins) const;
  void report_clock() const;
  Fiber& own_fiber(fabric::FiberId fiber) const;

  World& world_;
  HostState state_;
  std::function<void(fabric::Host&)> boot_;
  std::pmr::vector<Owned<Device>> devices_;
  std::pmr::vector<Fiber*> fibers_;  // of this incarnation
  // By name; it stays when the host crashes.
  std::map<std::string, KeptBlock, std::less<>> kept_memory_;
  bool paused_ = false;
  bool stopped_ = false;
  CallbackTimer pause_timer_;
  CallbackTimer restart_timer_;
  CallbackTimer landing_timer_;
};

}  // namespace falafel::sim
