#include "fabric/realtime/kept_gates.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "fabric/realtime/clock.h"
#include "fabric/realtime/system_random.h"

namespace falafel::fabric {
namespace {

constexpr std::uint64_t patience_ns = 5'000'000'000;
constexpr std::uint64_t gates_of_a_page = 4096 / sizeof(Gate);
// In the header.
constexpr std::uint64_t count_offset = 64;
constexpr std::uint64_t keeper_offset = 128;

// The number of gates that have memory and may have been given. It only grows.
std::atomic<std::uint32_t>& gate_count(std::byte* head) {
  return *reinterpret_cast<std::atomic<std::uint32_t>*>(head + count_offset);
}

Gate& gate_at(std::byte* head, std::uint32_t index) {
  return reinterpret_cast<Gate*>(head + KeptFile::gates_offset)[index];
}

// The process that keeps the memory, or kept it last. The holder of the lock writes it.
ProcessIdentity& keeper(std::byte* head) {
  return *reinterpret_cast<ProcessIdentity*>(head + keeper_offset);
}

ProcessIdentity peer_of(const Gate& gate) {
  return {.number = gate.peer_process.load(),
          .started = gate.peer_started.load(),
          .of_namespace = gate.peer_namespace.load(),
          .boot = gate.peer_boot.load()};
}

// The part of the file before the block, mapped.
class MappedHead {
 public:
  explicit MappedHead(const KeptFile& file)
      : address_(::mmap(nullptr, KeptFile::block_offset, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, file.file().get(), 0)) {}
  ~MappedHead() {
    if (is_mapped()) ::munmap(address_, KeptFile::block_offset);
  }
  MappedHead(const MappedHead&) = delete;
  MappedHead& operator=(const MappedHead&) = delete;

  bool is_mapped() const { return address_ != MAP_FAILED; }
  std::byte* begin() const { return static_cast<std::byte*>(address_); }

 private:
  void* address_;
};

// A process of another namespace is not waited for: nobody could tell when it has ended.
Result<void> await_keeper(const KeptFile& file, const ProcessIdentity& former,
                          std::uint64_t deadline_ns, const std::function<void()>& pause) {
  const ProcessIdentity own = identity_of(::getpid());
  const bool is_visible = former.number > 0 && former.of_namespace == own.of_namespace;
  while (is_visible && former.number != own.number && !has_ended(former)) {
    if (monotonic_ns() >= deadline_ns) {
      return make_error(ErrorCode::address_in_use,
                        fmt::format("'{}': {} kept this memory before and does not end; end it",
                                    file.path(), describe(former)));
    }
    pause();
  }
  return {};
}

Result<void> await_peer(const KeptFile& file, Gate& gate, std::uint64_t deadline_ns,
                        const std::function<void()>& pause) {
  while (gate.peer_is_busy.load() != 0) {
    const ProcessIdentity peer = peer_of(gate);
    if (has_ended(peer)) return {};
    if (monotonic_ns() >= deadline_ns) {
      return make_error(
          ErrorCode::address_in_use,
          fmt::format("'{}': {} was connected to the process that kept this memory before, and is "
                      "stopped in the middle of a request; let it continue (kill -CONT) or end it",
                      file.path(), describe(peer)));
    }
    pause();
  }
  return {};
}

// Returns whether the gates have memory.
bool take_space(const KeptFile& file, std::uint32_t first, std::uint64_t count) {
  const auto offset = static_cast<off_t>(KeptFile::gates_offset + first * sizeof(Gate));
  int error = 0;
  do {
    error = ::posix_fallocate(file.file().get(), offset, static_cast<off_t>(count * sizeof(Gate)));
  } while (error == EINTR);
  return error == 0;
}

}  // namespace

Result<void> fence_former_peers(const KeptFile& file, const std::function<void()>& pause) {
  const MappedHead head(file);
  if (!head.is_mapped()) {
    return make_error(ErrorCode::unsupported,
                      fmt::format("'{}' cannot be mapped: {}; choose another file system",
                                  file.path(), std::strerror(errno)));
  }
  const std::uint32_t count = gate_count(head.begin()).load();
  if (count > KeptGates::most_gates) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' is damaged: it has gates for {} peers; restore it from a "
                                  "copy, or remove it to begin anew",
                                  file.path(), count));
  }
  const std::uint64_t deadline_ns = monotonic_ns() + patience_ns;
  const ProcessIdentity former = keeper(head.begin());
  if (auto ended = await_keeper(file, former, deadline_ns, pause); !ended) return ended;
  for (std::uint32_t index = 0; index < count; ++index) {
    gate_at(head.begin(), index).state.store(GateState::closed);
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    Gate& gate = gate_at(head.begin(), index);
    if (gate.pass.load() == 0) continue;
    if (auto waited = await_peer(file, gate, deadline_ns, pause); !waited) return waited;
    if (has_ended(peer_of(gate))) gate.pass.store(0);
  }
  keeper(head.begin()) = identity_of(::getpid());
  return {};
}

KeptGates::KeptGates(const KeptFile& file, std::byte* head) : file_(file), head_(head) {
  for (std::uint32_t index = gate_count(head_).load(); index-- > 0;) {
    if (gate_at(head_, index).pass.load() == 0) free_.push_back(index);
  }
}

Result<KeptGates::Given> KeptGates::give(const ProcessIdentity& peer) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    const std::uint32_t count = gate_count(head_).load();
    if (count + gates_of_a_page > most_gates || !take_space(file_, count, gates_of_a_page)) {
      return make_error(ErrorCode::out_of_memory,
                        fmt::format("'{}' has no room for another connection", file_.path()));
    }
    free_.reserve(free_.size() + gates_of_a_page);
    for (std::uint32_t added = gates_of_a_page; added-- > 0;) free_.push_back(count + added);
    gate_count(head_).store(count + gates_of_a_page);
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Gate& gate = gate_at(head_, index);
  SystemRandom random;
  const std::uint64_t pass = random.next(0) | 1U;
  gate.peer_is_busy.store(0);
  gate.peer_process.store(peer.number);
  gate.peer_started.store(peer.started);
  gate.peer_namespace.store(peer.of_namespace);
  gate.peer_boot.store(peer.boot);
  gate.pass.store(pass);
  gate.state.store(GateState::ready);
  return Given{.offset = KeptFile::gates_offset + index * sizeof(Gate), .pass = pass};
}

void KeptGates::take_back(std::uint64_t offset) noexcept {
  const auto index = static_cast<std::uint32_t>((offset - KeptFile::gates_offset) / sizeof(Gate));
  Gate& gate = gate_at(head_, index);
  gate.state.store(GateState::closed);
  gate.pass.store(0);
  const std::lock_guard lock(mutex_);
  try {
    free_.push_back(index);
  } catch (const std::bad_alloc&) {
    // Nobody remembers the gate, so it is not given again by this process.
  }
}

}  // namespace falafel::fabric
