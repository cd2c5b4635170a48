// The host that all backends in real time share: fibers, events, time and random numbers.
//
// A host has no thread of its own. A thread that calls run() or run_program() runs the host's
// fibers until the call returns; one thread can do so at a time.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "fabric/fabric.h"
#include "fabric/realtime/clock.h"
#include "fabric/realtime/descriptor_shortage.h"
#include "fabric/realtime/fiber_scheduler.h"
#include "fabric/realtime/kept_file.h"
#include "fabric/realtime/system_random.h"

namespace falafel::fabric {

class RealTimeHost : public Host {
 public:
  RealTimeHost(std::string name, Network& network, std::uint64_t spin_ns,
               std::shared_ptr<DescriptorShortage> descriptor_shortage)
      : name_(std::move(name)),
        scheduler_(network, spin_ns),
        descriptor_shortage_(std::move(descriptor_shortage)) {}

  // Runs `body` as a fiber, together with the host's other fibers, until the body has returned or
  // thrown. Its exception leaves run(); an exception of any other fiber aborts the program. Any
  // thread may call it, but no fiber of this host: the call would wait for itself, so it throws
  // std::logic_error. Blocks while another thread runs the host. Throws std::bad_alloc if there is
  // no memory for the fiber.
  void run(std::function<void()> body);
  // The same until all fibers except daemons have returned, or until the body has thrown. Then
  // cancels the fibers that remain; the host has ended.
  void run_program(std::function<void()> body);
  // Runs the fibers that are ready, unless another thread runs the host. Daemons need it between
  // calls of run().
  void run_daemons();

  // The count of each probe, by its index.
  const std::array<std::uint64_t, max_probes>& probe_counts() const { return probe_counts_; }

  const std::string& name() const override { return name_; }
  // Waits for peers of an earlier process that are in the middle of a request.
  Result<KeptMemory> keep_memory(const std::string& name, std::uint64_t size_bytes) final {
    return keep(name, size_bytes, KeptFile::Space::whole);
  }
  Result<KeptMemory> keep_reserved_memory(const std::string& name,
                                          std::uint64_t size_bytes) override {
    return keep(name, size_bytes, KeptFile::Space::reserved);
  }
  FiberId spawn(const FiberOptions& options, std::function<void()> body) override {
    return scheduler_.spawn(options, std::move(body));
  }
  void cancel(FiberId fiber) override { scheduler_.cancel(fiber); }
  bool is_cancelled() const override { return scheduler_.is_cancelled(); }
  void set_cooperative(bool is_cooperative) override { scheduler_.set_cooperative(is_cooperative); }
  void join(FiberId fiber) override { scheduler_.join(fiber); }
  std::unique_ptr<Event> create_event() override;
  std::uint64_t now_ns() override { return monotonic_ns(); }
  std::uint64_t wall_clock_ns() override { return fabric::wall_clock_ns(); }
  void sleep_until(std::uint64_t deadline_ns) override { scheduler_.wait(nullptr, deadline_ns); }
  void yield() override { scheduler_.yield(); }
  void preemption_point() override {}
  void spend(Work /*work*/, std::uint64_t /*bytes*/) override {}
  std::uint64_t random(std::uint64_t bound) override { return random_.next(bound); }
  void count(const Probe& probe) override { ++probe_counts_.at(probe.index); }

  FiberScheduler& scheduler() { return scheduler_; }
  // The shortage that this host's listeners report.
  const std::shared_ptr<DescriptorShortage>& descriptor_shortage() const {
    return descriptor_shortage_;
  }

 private:
  class Driving;

  Result<KeptMemory> keep(const std::string& name, std::uint64_t size_bytes, KeptFile::Space space);
  // Makes a block of the mapped file. The block keeps the file.
  virtual Result<std::shared_ptr<MemoryBlock>> map_kept(const std::shared_ptr<KeptFile>& file) = 0;

  std::string name_;
  FiberScheduler scheduler_;
  const std::shared_ptr<DescriptorShortage> descriptor_shortage_;
  std::mutex driving_;                     // held by the thread that runs the fibers
  std::atomic<std::thread::id> driver_{};  // the thread in run() or run_program()
  SystemRandom random_;
  std::array<std::uint64_t, max_probes> probe_counts_{};
};

}  // namespace falafel::fabric
