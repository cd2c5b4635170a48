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
  OwnEndpoint(ProcessState& process, std::shared_ptr<const DomainNumber> domain,
              std::uint64_t offset, std::uint64_t size_bytes)
      : process_(process), domain_(std::move(domain)), offset_(offset), size_bytes_(size_bytes) {}
  ~OwnEndpoint();
  OwnEndpoint(const OwnEndpoint&) = delete;
  OwnEndpoint& operator=(const OwnEndpoint&) = delete;

  Endpoint& get() const;
  std::uint64_t offset() const { return offset_; }
  const std::shared_ptr<const DomainNumber>& domain() const { return domain_; }

 private:
  ProcessState& process_;
  std::shared_ptr<const DomainNumber> domain_;
  std::uint64_t offset_;
  std::uint64_t size_bytes_;
};

// A link lives until both sides have closed it or the peer's process has ended.
class Link : public std::enable_shared_from_this<Link> {
 public:
  // Errors: invalid_argument (the peer's endpoint is not within its memory), out_of_memory.
  static fabric::Result<std::shared_ptr<Link>> create(boost::asio::io_context& context,
                                                      FileDescriptor socket,
                                                      std::unique_ptr<OwnEndpoint> own,
                                                      std::shared_ptr<MappedArena> peer_arena,
                                                      std::uint64_t peer_endpoint,
                                                      std::shared_ptr<HostSignal> signal);

  void send_handshake(const HandshakeMessage& message, const FileDescriptor& arena);
  // Starts to watch for the end of the peer.
  void watch();
  // The queue pair of this side is gone. No further request of the peer begins.
  void close();

  Endpoint& own() const { return *own_endpoint_; }
  Endpoint& peer() const { return *peer_; }
  const MappedArena& peer_arena() const { return *peer_arena_; }
  WakeWord& peer_wake_word() const { return *peer_wake_word_; }
  const std::shared_ptr<const DomainNumber>& domain() const { return own_->domain(); }

  // The peer closed its end of the socket without a goodbye, or its process has ended. The process
  // has a life sign because the socket may tell later.
  bool is_lost() const { return lost_.load() || has_ended(peer_arena_->header().life); }
  // The peer said goodbye: it closed its end in good order.
  bool peer_has_closed() const { return peer_has_closed_.load(); }
  // No request of the peer is in progress. Call it once the endpoint of this side has left `ready`.
  bool is_drained() const { return own().peer_is_busy.load() == 0 || peer_has_ended_.load(); }
  // Adds this link, once, to a list of links. Needs no memory.
  void append_to(std::list<std::shared_ptr<Link>>& links) noexcept;

 private:
  Link(boost::asio::io_context& context, FileDescriptor socket, FileDescriptor process,
       std::unique_ptr<OwnEndpoint> own, std::shared_ptr<MappedArena> peer_arena,
       std::uint64_t peer_endpoint, std::shared_ptr<HostSignal> signal);
  void await_message();
  void await_end_of_process();
  void on_readable();
  void on_goodbye();
  void on_end_of_process();
  void give_up();

  std::unique_ptr<OwnEndpoint> own_;
  std::list<std::shared_ptr<Link>> place_;  // for append_to: one element, null
  Endpoint* own_endpoint_;
  std::shared_ptr<MappedArena> peer_arena_;
  Endpoint* peer_;
  WakeWord* peer_wake_word_;
  std::shared_ptr<HostSignal> signal_;
  boost::asio::posix::stream_descriptor socket_;
  // The pidfd of the peer, opened while the peer lived, because the system may reuse its number
  // later. Only the thread that makes connections uses it.
  boost::asio::posix::stream_descriptor process_;
  std::atomic<bool> lost_ = false;
  std::atomic<bool> peer_has_ended_ = false;
  std::atomic<bool> peer_has_closed_ = false;
};

}  // namespace falafel::shm
