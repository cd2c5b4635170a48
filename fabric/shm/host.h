// A host of the fabric over shared memory, without its devices (host_with_devices.h): its fibers,
// its memory, and the queue pairs that make progress when its fibers run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/realtime/host.h"
#include "fabric/shm/link.h"
#include "fabric/shm/process_state.h"

namespace falafel::shm {

class QueuePair;

class Host : public fabric::RealTimeHost, private fabric::Network {
 public:
  Host(std::shared_ptr<ProcessState> process, std::string name);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> allocate_memory(
      std::uint64_t size_bytes) override {
    return make_block(size_bytes, Arena::Pages::populated);
  }
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> reserve_memory(
      std::uint64_t size_bytes) override {
    return make_block(size_bytes, Arena::Pages::none);
  }

  void progress() override;

  ProcessState& process() { return *process_; }
  const std::shared_ptr<ProcessState>& shared_process() const { return process_; }
  const MappedArena& arena() const { return *arena_; }
  const fabric::DeviceAttributes& attributes() const { return attributes_; }
  std::uint64_t wake_word() const { return wake_word_; }
  const std::shared_ptr<HostSignal>& signal() const { return signal_; }
  // Fibers that wait for connections. Each signal wakes them.
  fabric::WaitList& signal_waiters() { return signal_waiters_; }

  void add(QueuePair& queue_pair) { queue_pairs_.push_back(&queue_pair); }
  void remove(QueuePair& queue_pair) {
    const std::size_t removed = std::erase(queue_pairs_, &queue_pair);
    FALAFEL_ASSERT(removed == 1, "host {} had the queue pair {} times", name(), removed);
  }

 private:
  std::uint64_t next_deadline_ns() const override;
  void idle_until(std::uint64_t deadline_ns) override;
  bool has_news() const;
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> make_block(std::uint64_t size_bytes,
                                                                  Arena::Pages pages);
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> map_kept(
      const std::shared_ptr<fabric::KeptFile>& file) override;

  std::shared_ptr<ProcessState> process_;
  std::shared_ptr<MappedArena> arena_;
  fabric::DeviceAttributes attributes_;
  std::uint64_t wake_word_;
  std::shared_ptr<HostSignal> signal_;
  fabric::WaitList signal_waiters_;
  std::vector<QueuePair*> queue_pairs_;
};

}  // namespace falafel::shm
