// Receives the callers of a listener: the thread that makes connections accepts them and waits for
// the request of each, and a fiber takes those that have sent one.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "fabric/realtime/descriptor_shortage.h"
#include "fabric/shm/arena.h"
#include "fabric/shm/handshake.h"
#include "fabric/shm/link.h"

namespace falafel::shm {

// A process that requests a connection.
struct Caller {
  FileDescriptor socket;
  HandshakeMessage message;
  FileDescriptor arena;

  void reject(std::span<const std::byte> reason) const;
};

class Reception : public std::enable_shared_from_this<Reception> {
 public:
  // `folder`: of the socket. It says who may call (fabric/shm/trust.h).
  Reception(boost::asio::io_context& context, FileDescriptor socket, std::filesystem::path folder,
            std::shared_ptr<HostSignal> signal,
            std::shared_ptr<fabric::DescriptorShortage> shortage);

  void watch();
  void close();
  std::optional<Caller> take();

 private:
  using SilentCaller = std::shared_ptr<boost::asio::posix::stream_descriptor>;  // closed if dropped

  void accept_callers();
  void pause();
  void drop_oldest();
  void hear(const SilentCaller& caller);
  void await_request_of(const SilentCaller& caller);
  void admit(Caller caller);

  boost::asio::io_context& context_;
  boost::asio::posix::stream_descriptor socket_;
  const std::filesystem::path folder_;
  boost::asio::steady_timer pause_;
  std::deque<SilentCaller> silent_;  // the oldest first
  std::shared_ptr<HostSignal> signal_;
  std::shared_ptr<fabric::DescriptorShortage> shortage_;
  std::mutex mutex_;
  std::deque<Caller> callers_;  // have sent a request and wait for the answer
};

}  // namespace falafel::shm
