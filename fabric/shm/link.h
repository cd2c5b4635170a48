// A link is a pair of endpoints and the socket between them. The socket tells each side that the
// other is gone.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <list>
#include <memory>

#include "fabric/shm/arena.h"
#include "fabric/shm/kept_range.h"
#include "fabric/shm/layout.h"
#include "fabric/shm/life_sign.h"
#include "fabric/shm/wake.h"

namespace falafel::shm {

class ProcessState;
struct HandshakeMessage;

// Tells a host that the thread that makes connections has news for it. It outlives the host.
class HostSignal {
 public:
  explicit HostSignal(WakeWord& word) : word_(word) {}
  void raise() {
    raised_.store(true);
    ring(word_);
  }
  bool is_raised() const { return raised_.load(); }
  bool take() { return raised_.load() && raised_.exchange(false); }

 private:
  WakeWord& word_;
  std::atomic<bool> raised_ = false;
};

// Identifies a protection domain. Its regions and queue pairs share it. While any of them holds it,
// a peer may reach memory of the domain.
struct DomainNumber {
  std::uint64_t value;
};

// The endpoint of this process. The peer may access it until its end of the socket is closed.
class OwnEndpoint {
 public:
  // `gate`: null if the gate is in the endpoint.
  OwnEndpoint(ProcessState& process, std::shared_ptr<const DomainNumber> domain,
              std::uint64_t offset, std::uint64_t size_bytes, std::unique_ptr<GateInFile> gate)
      : process_(process),
        domain_(std::move(domain)),
        offset_(offset),
        size_bytes_(size_bytes),
        gate_(std::move(gate)) {}
  ~OwnEndpoint();
  OwnEndpoint(const OwnEndpoint&) = delete;
  OwnEndpoint& operator=(const OwnEndpoint&) = delete;

  Endpoint& get() const;
  Gate& gate() const;
  const GateInFile* gate_in_file() const { return gate_.get(); }
  std::uint64_t offset() const { return offset_; }
  const std::shared_ptr<const DomainNumber>& domain() const { return domain_; }

 private:
  ProcessState& process_;
  std::shared_ptr<const DomainNumber> domain_;
  std::uint64_t offset_;
  std::uint64_t size_bytes_;
  std::unique_ptr<GateInFile> gate_;
};

// A link lives until both sides have closed it or the peer's process has ended.
class Link : public std::enable_shared_from_this<Link> {
 public:
  // `gate_pass`: of the gate in the peer's file of kept memory; 0 if it has none. Errors:
  // invalid_argument (the peer's endpoint is not within its memory), out_of_memory.
  static fabric::Result<std::shared_ptr<Link>> create(
      boost::asio::io_context& context, FileDescriptor socket, std::unique_ptr<OwnEndpoint> own,
      std::shared_ptr<MappedArena> peer_arena, std::uint64_t peer_endpoint, std::uint64_t gate_pass,
      std::shared_ptr<HostSignal> signal);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Adds what the peer needs to reach the memory that this process keeps.
  void send_handshake(HandshakeMessage message, const FileDescriptor& arena);
  // Starts to watch for the end of the peer.
  void watch();
  // The queue pair of this side is gone. No further request of the peer begins.
  void close();

  Endpoint& own() const { return *own_endpoint_; }
  Gate& own_gate() const { return *own_gate_; }
  Endpoint& peer() const { return *peer_.endpoint; }
  Gate& peer_gate() const { return *peer_.gate; }
  const MappedArena& peer_arena() const { return *peer_.arena; }
  WakeWord& peer_wake_word() const { return *peer_.wake_word; }
  const std::shared_ptr<const DomainNumber>& domain() const { return own_->domain(); }

  // The peer closed its end of the socket without a goodbye, or its process has ended and keeps no
  // memory that serves on. The process has a life sign because the socket may tell later. A peer
  // that keeps memory is also lost when it says goodbye, so that a restart takes no time-out.
  [[gnu::always_inline]] bool is_lost() const {
    if (has_ended(peer_.arena->header().life)) return !is_served_by_memory_alone();
    return lost_.load() || (peer_.pass != 0 && peer_has_closed());
  }
  // The peer's process has ended, but one-sided requests still reach the memory that it kept. The
  // messages of this side reach nobody.
  bool is_served_by_memory_alone() const {
    return peer_.pass != 0 && has_ended(peer_.arena->header().life) && is_gate_open_for_now();
  }
  // The peer said goodbye: it closed its end in good order.
  bool peer_has_closed() const { return peer_has_closed_.load(); }
  // No request of the peer is in progress. Call it once the gate of this side has left `ready`.
  bool is_drained() const { return own_gate().peer_is_busy.load() == 0 || peer_has_ended_.load(); }
  // Adds this link, once, to a list of links. Needs no memory.
  void append_to(std::list<std::shared_ptr<Link>>& links) noexcept;

 private:
  // The places of the peer's things.
  struct Peer {
    std::shared_ptr<MappedArena> arena;
    Endpoint* endpoint = nullptr;
    WakeWord* wake_word = nullptr;
    Gate* gate = nullptr;
    std::uint64_t pass = 0;  // of the gate; 0: the gate is in the endpoint
  };
  Link(boost::asio::io_context& context, FileDescriptor socket, FileDescriptor process,
       std::unique_ptr<OwnEndpoint> own, Peer peer, std::shared_ptr<HostSignal> signal);
  void await_message();
  void await_end_of_process();
  void on_readable();
  void on_goodbye();
  void on_end_of_process();
  void note_loss();
  bool is_gate_open_for_now() const;

  std::unique_ptr<OwnEndpoint> own_;
  std::list<std::shared_ptr<Link>> place_;  // for append_to: one element, null
  Endpoint* own_endpoint_;
  Gate* own_gate_;
  Peer peer_;
  std::shared_ptr<HostSignal> signal_;
  boost::asio::posix::stream_descriptor socket_;
  // The pidfd of the peer, opened while the peer lived, because the system may reuse its number
  // later. Only the thread that makes connections uses it.
  boost::asio::posix::stream_descriptor process_;
  std::atomic<bool> lost_ = false;
  mutable std::atomic<std::uint64_t> ended_ns_ = 0;  // when the end was first seen; 0: not yet
  std::atomic<bool> peer_has_ended_ = false;
  std::atomic<bool> peer_has_closed_ = false;
};

}  // namespace falafel::shm
