// One side of a connection: its state, its peer, and what the states of both mean for requests to
// the peer. The side of a datagram queue pair has no peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "fabric/fabric.h"
#include "fabric/sim/network/request.h"
#include "fabric/sim/run/world.h"
#include "fabric/sim/words/held_words.h"

namespace falafel::sim {

namespace timing {
class RequestTimes;
}

class DeviceState;
class HostState;
class QueuePairActor;
class Responder;

// The limits that a queue pair keeps to as the requester; see fabric::QueuePairOptions.
struct LimitsAsRequester {
  std::uint32_t max_outstanding_reads_and_atomics = 0;
  std::uint64_t acknowledge_timeout_ns = 0;
  std::uint32_t retry_count = 0;
  std::uint32_t receiver_not_ready_retry_count = 0;
};

class Connection {
 public:
  enum class State : std::uint8_t { connecting, ready, error, closed };

  // The queue pair of this side.
  struct Owner {
    HostState& host;
    DeviceState& device;
    fabric::DatagramAddress address;  // of the queue pair
    std::uint32_t protection_domain = 0;
    const fabric::DeviceAttributes& limits;  // of the device
    HeldWords& held_words;                   // of the device
  };

  // Calls `timed_out` when the acknowledge timeout of the oldest request has passed.
  Connection(World& world, const Owner& owner, const fabric::QueuePairOptions& options,
             std::function<void()> timed_out);

  World& world() const { return world_; }
  HostState& host() const { return owner_.host; }
  DeviceState& device() const { return owner_.device; }
  HeldWords& held_words() const { return owner_.held_words; }
  const fabric::DatagramAddress& address() const { return owner_.address; }
  std::uint32_t number() const { return owner_.address.queue_pair_number; }
  const fabric::QueuePairOptions& options() const { return options_; }
  std::uint32_t protection_domain() const { return owner_.protection_domain; }
  fabric::Transport transport() const { return options_.transport; }
  bool is_reliable() const { return transport() == fabric::Transport::reliable_connection; }
  bool is_datagram() const { return transport() == fabric::Transport::unreliable_datagram; }
  bool is_stream() const { return transport() == fabric::Transport::message_stream; }
  // RC and message streams; UC and UD lose requests instead.
  bool reports_failures() const { return is_reliable() || is_stream(); }
  // A request that finds no receive request waits for one.
  bool retries_endlessly() const {
    return is_stream() ||
           (is_reliable() && options_.receiver_not_ready_retry_count == endless_retries);
  }

  State state() const { return state_; }
  bool is_ready() const { return state_ == State::ready; }
  // In error or closed: requests may still take effect, but none succeeds for the program.
  bool is_dead() const { return state_ >= State::error; }
  void change_state(State state);
  void touch(Access access) const { world_.touch(Touchable::connection, number(), access); }

  QueuePairActor* peer() const { return peer_; }
  const Connection* peer_side() const { return peer_side_; }
  // Both ends are ready, on RC, in a run that is not timed. A request without others before it then
  // waits for nothing.
  bool is_plainly_up() const { return is_plainly_up_; }
  // `side`: the same peer's side of the connection.
  void set_peer(QueuePairActor& peer, Connection& side, Responder& responder);
  // The peer in the role of the responder. Requires a peer.
  Responder& responder() const { return *responder_; }
  Responder* responder_or_null() const { return responder_; }

  bool responder_admits() const {
    if (peer_side_ == nullptr) return is_datagram();
    peer_side_->touch(Access::reads);
    return peer_side_->is_ready();
  }
  // No packet will ever be admitted again. A peer that is still connecting will admit packets
  // later. A queue pair that is connected by number may not have a peer yet.
  bool responder_is_lost() const {
    if (peer_side_ == nullptr) return has_no_peer();
    peer_side_->touch(Access::reads);
    return peer_side_->is_dead();
  }

  // The times of the requests of this side, in a timed run.
  timing::RequestTimes* request_times() const { return request_times_; }
  void set_request_times(timing::RequestTimes& request_times) { request_times_ = &request_times; }

  // For a queue pair that is connected by number, before it sends.
  void set_limits_as_requester(const LimitsAsRequester& limits);

  // The peer may do this, as far as the regions permit it: everything, unless the queue pair is
  // connected by number and was given less.
  const fabric::Access& rights_of_peer() const { return rights_of_peer_; }
  void set_rights_of_peer(const fabric::Access& rights);

  // No peer will come.
  void give_up_waiting_for_peer() { gave_up_waiting_for_peer_ = true; }

  // Starts or stops the acknowledge timeout. It runs while this side expects an answer and the
  // responder is lost. As long as the responder is alive, retransmission hides every delay.
  void watch_responder(bool expects_answer) {
    const bool waits = reports_failures() && is_ready() && expects_answer && responder_is_lost();
    if (waits != retry_timer_set_) set_watching(waits);
  }
  void stop_watching() { set_watching(false); }

  // From now on, the peer's processor sees the WRITEs before that place in this side's send queue.
  void show_writes_before(std::uint64_t place) const;

  // From now on, this side's processor sees the WRITEs before that place in the peer's send queue.
  void show_writes_of_peer(std::uint64_t before_place) const {
    if (peer_side_ != nullptr) peer_side_->show_writes_before(before_place);
  }

  // Records what happened to a request of this side. `block`: the memory that it accessed.
  void trace(EventKind kind, const Request& request, std::uint64_t offset, std::uint64_t word,
             std::span<const std::byte> data, const fabric::MemoryBlock* block = nullptr) const;

 private:
  static constexpr std::uint32_t endless_retries = 7;

  bool has_no_peer() const {
    return gave_up_waiting_for_peer_ || transport() == fabric::Transport::unreliable_connection;
  }
  void set_watching(bool waits);
  std::uint64_t detection_ns() const;
  void note_whether_up();

  World& world_;
  Owner owner_;
  fabric::QueuePairOptions options_;
  State state_ = State::connecting;
  fabric::Access rights_of_peer_{
      .local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true};
  bool is_plainly_up_ = false;
  bool gave_up_waiting_for_peer_ = false;
  QueuePairActor* peer_ = nullptr;
  Connection* peer_side_ = nullptr;
  Responder* responder_ = nullptr;
  timing::RequestTimes* request_times_ = nullptr;
  CallbackTimer retry_timer_;
  bool retry_timer_set_ = false;
};

std::string_view to_string(Connection::State state);

}  // namespace falafel::sim
