// The state that the hosts of a process share: its shared memory, its keys, the mapped memory of
// its peers, and the thread that makes connections. It lives until the last of its objects is gone.
// Thread-safe.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "fabric/shm/arena.h"
#include "fabric/shm/kept_range.h"
#include "fabric/shm/key_table.h"
#include "fabric/shm/link.h"
#include "fabric/shm/process_options.h"

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

  // Returns the offset of a word that wakes a host. After many hosts, words are shared; that can
  // only wake a host without need.
  std::uint64_t next_wake_word();
  // Makes an endpoint with room for the receive requests of the options. `caller`: the process
  // that called this one; it may reach the kept memory, so its gate is in the file of that. Errors:
  // out_of_memory.
  fabric::Result<std::unique_ptr<OwnEndpoint>> make_endpoint(
      const fabric::QueuePairOptions& options, std::shared_ptr<const DomainNumber> domain,
      std::uint64_t wake_word, std::optional<pid_t> caller);
  // Maps the memory of a peer, which may be this process itself. Errors: as MappedArena::map, and
  // invalid_argument if the memory does not have this identity.
  // `kept`, `kept_file`: the memory that it keeps, as far as this process may reach it.
  fabric::Result<std::shared_ptr<MappedArena>> map_peer(const ArenaId& id,
                                                        const FileDescriptor& file,
                                                        const Overlay& kept,
                                                        const FileDescriptor& kept_file);

  // Takes over the link of a closed queue pair. While its peer is busy, no memory of its domain is
  // reused.
  void retire(const std::shared_ptr<Link>& link) noexcept;
  // `domains`: the protection domains in which the memory was registered. Expired ones do not
  // matter. `kept`: null, or the range that the memory belongs to.
  void release_memory(std::uint64_t offset, std::uint64_t size_bytes,
                      std::vector<std::weak_ptr<const DomainNumber>> domains,
                      std::shared_ptr<KeptRange> kept) noexcept;
  // Errors: out_of_memory.
  fabric::Result<std::uint64_t> allocate_memory(std::uint64_t size_bytes, Arena::Pages pages);
  // Maps the file. The connections that this process accepts from now on reach it. Errors:
  // out_of_memory, unsupported (this process keeps memory already).
  fabric::Result<std::shared_ptr<KeptRange>> keep(const std::shared_ptr<fabric::KeptFile>& file);

 private:
  struct Range {
    std::uint64_t offset;
    std::uint64_t size_bytes;
    std::vector<std::weak_ptr<const DomainNumber>> domains;
    std::shared_ptr<KeptRange> kept;
  };
  fabric::Result<std::unique_ptr<GateInFile>> take_gate(pid_t caller);
  void release_what_is_drained();
  bool is_within_reach(const Range& range) const;

  ProcessOptions options_;
  std::unique_ptr<Arena> arena_;
  KeyTable keys_;
  std::atomic<std::uint64_t> domains_ = 0;
  std::atomic<std::uint32_t> queue_pairs_ = 0;
  std::atomic<std::uint64_t> wake_words_ = 0;
  std::mutex mutex_;
  // With the beginning of the kept memory; 0: without it.
  std::map<std::pair<ArenaId, std::uint64_t>, std::weak_ptr<MappedArena>> peers_;
  std::weak_ptr<KeptRange> kept_;
  std::list<std::shared_ptr<Link>> undrained_;
  std::vector<Range> quarantine_;  // freed while a peer might still write
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace falafel::shm
