// The gates of the processes that have a kept file mapped (kept_file.h). They are in the file, so
// the next process that keeps the memory finds out who may still change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "fabric/error.h"
#include "fabric/realtime/gate.h"
#include "fabric/realtime/kept_file.h"
#include "fabric/realtime/process_identity.h"

namespace falafel::fabric {

// Waits until the earlier process has ended, with all its queue pairs: its lock is free a little
// earlier. Then closes all gates and waits until nobody is behind one: each peer of an earlier
// process is not busy, or has ended. Afterwards they change nothing any more. Calls `pause` between
// two looks. Errors: address_in_use (a peer is stopped while it is busy; names it),
// invalid_argument (the file is damaged), unsupported.
Result<void> fence_former_peers(const KeptFile& file, const std::function<void()>& pause);

// Gives gates to peers. Peers of earlier processes that have neither ended nor left keep theirs,
// because they would otherwise mark other peers as not busy. Thread-safe.
class KeptGates {
 public:
  static constexpr std::uint64_t most_gates =
      (KeptFile::block_offset - KeptFile::gates_offset) / sizeof(Gate);

  // `head`: the beginning of the mapped file, up to the block. Call fence_former_peers before.
  KeptGates(const KeptFile& file, std::byte* head);

  struct Given {
    std::uint64_t offset;  // of the gate in the file
    std::uint64_t pass;
  };
  // Errors: out_of_memory.
  Result<Given> give(const ProcessIdentity& peer);
  void take_back(std::uint64_t offset) noexcept;

 private:
  const KeptFile& file_;
  std::byte* head_;
  std::mutex mutex_;
  std::vector<std::uint32_t> free_;
};

// For the peer, which does not touch the gate again. The gate may have got another peer meanwhile.
inline void leave(Gate& gate, std::uint64_t pass) { gate.pass.compare_exchange_strong(pass, 0); }

}  // namespace falafel::fabric
