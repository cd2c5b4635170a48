// What the hosts of a process have in common: its shared memory, its keys, the memory of its peers, and
// the thread on which connections are made. Thread-safe.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fabric/shm/arena.h"
#include "fabric/shm/key_table.h"
#include "fabric/shm/link.h"
#include "fabric/shm/process.h"

namespace falafel::shm {

class ProcessState {
 public:
  ProcessState(const ProcessOptions& options, std::unique_ptr<Arena> arena);
  ~ProcessState();
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;

  const ProcessOptions& options() const { return options_; }
  Arena& arena() { return *arena_; }
  KeyTable& keys() { return keys_; }
  boost::asio::io_context& context() { return context_; }
  std::shared_ptr<const DomainNumber> next_domain() {
    return std::make_shared<const DomainNumber>(DomainNumber{++domains_});
  }
  std::uint32_t next_queue_pair() { return ++queue_pairs_; }

  // A word for a host to be woken by; its offset. Words of hosts that are gone are shared, which at worst
  // wakes one in vain.
  std::uint64_t next_wake_word();
  // An endpoint with room for so many receive requests. Errors: out_of_memory.
  fabric::Result<std::unique_ptr<OwnEndpoint>> make_endpoint(
      std::uint32_t receive_requests, std::shared_ptr<const DomainNumber> domain,
      std::uint64_t wake_word);
  // The memory of a peer, which may be this process itself. Errors: as MappedArena::map; and
  // invalid_argument if it is not that of the peer.
  fabric::Result<std::shared_ptr<MappedArena>> map_peer(const ArenaId& id,
                                                        const FileDescriptor& file);

  // The link's queue pair is closed. While its peer is still busy, no memory of its domain is used again.
  void retire(std::shared_ptr<Link> link);
  // `domains`: in which it was registered; those that nobody has any more say nothing.
  void release_memory(std::uint64_t offset, std::uint64_t size_bytes,
                      std::vector<std::weak_ptr<const DomainNumber>> domains);
  // Errors: out_of_memory.
  fabric::Result<std::uint64_t> allocate_memory(std::uint64_t size_bytes);

 private:
  struct Range {
    std::uint64_t offset;
    std::uint64_t size_bytes;
    std::vector<std::weak_ptr<const DomainNumber>> domains;
  };
  void release_what_is_drained();
  bool is_within_reach(const Range& range) const;

  ProcessOptions options_;
  std::unique_ptr<Arena> arena_;
  KeyTable keys_;
  std::atomic<std::uint64_t> domains_ = 0;
  std::atomic<std::uint32_t> queue_pairs_ = 0;
  std::atomic<std::uint64_t> wake_words_ = 0;
  std::mutex mutex_;
  std::map<ArenaId, std::weak_ptr<MappedArena>> peers_;
  std::vector<std::shared_ptr<Link>> undrained_;
  std::vector<Range> quarantine_;  // freed while a peer may still have been writing
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace falafel::shm
