// The fabric: what a program may ask of an RDMA network, whichever carries it out (a deterministic
// simulator, shared memory, libibverbs). Contracts stand here; docs/fabric.md has the same rules as
// prose, with their sources. The vocabulary is that of libibverbs, and every call maps onto it.
//
// Programs are fibers of a host. A call marked "waits" suspends the calling fiber and lets the other
// fibers of its thread run; every other call returns at once. All calls on the objects of a host come
// from the fibers of that host. A host's objects die with the host: after a crash no call has an effect.
//
// Ordering on one queue pair (InfiniBand's rules, and nothing beyond them):
//   first \ then      READ         WRITE, SEND    atomic
//   WRITE, SEND       ordered      ordered        ordered
//   READ              unordered*   fence          fence
//   atomic            ordered      fence          fence
//   "ordered": the first has taken effect in the responder's memory before the second does.
//   "fence": ordered only if the second is `fenced`.     *: requests travel in order, but memory is
//   sampled in any order; completions come in order.
// There is no order between queue pairs.
//
// A transfer of no bytes needs neither key nor rights.
//
// Atomic width: an aligned word of 8 bytes is read and written whole. Anything longer is moved word by
// word, in any order, spread over time, for one READ as for one WRITE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/assert.h"
#include "fabric/error.h"
#include "fabric/work_request.h"

namespace falafel::fabric {

inline constexpr std::uint64_t never_ns = ~std::uint64_t{0};  // a deadline that does not come

// Thrown out of the waiting calls of a fiber that was cancelled, or whose host died, to unwind it (EndHere
// is for fibers that can end without). Not to be swallowed; destructors that run meanwhile must not wait. No subclass of std::exception, so that
// a handler for errors does not catch it.
struct FiberCancelled {};

// ---------------------------------------------------------------------------------------------------
// Memory

// Rights of a memory region. Remote write and remote atomic need local write too, as in libibverbs.
struct Access {
  bool local_write = false;
  bool remote_read = false;
  bool remote_write = false;
  bool remote_atomic = false;

  friend bool operator==(const Access&, const Access&) = default;
};

// Contiguous memory of a host, zeroed, aligned to a page. It lives as long as this object and the
// regions registered over it.
//
// The processor's view: the four calls below may meet remote traffic. load and store move one aligned
// word whole; read and write move longer ranges word by word, in ascending order, and may be torn by
// traffic in between. The processor's compare_and_swap is atomic against the processors of its host;
// against a device only if that says AtomicCapability::global. Each call may suspend the fiber.
// The processor may see the words that a peer's WRITE changed late, one by one. It is certain to see them
// once it has polled the receive completion of a later SEND of that queue pair, or a `flushed` completion of
// its own end, or once a later READ of that queue pair has completed. READs find them before.
// bytes() is for ranges that no remote party and no work in flight may touch meanwhile.
class MemoryBlock {
 public:
  virtual ~MemoryBlock() = default;
  virtual std::span<std::byte> bytes() = 0;
  virtual std::uint64_t load(std::uint64_t offset) = 0;
  virtual void store(std::uint64_t offset, std::uint64_t value) = 0;
  // Returns the word that was there; it was replaced if that equals `expected`.
  virtual std::uint64_t compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                         std::uint64_t desired) = 0;
  virtual void read(std::uint64_t offset, std::span<std::byte> destination) = 0;
  virtual void write(std::uint64_t offset, std::span<const std::byte> source) = 0;
};

// A registered range of a memory block, with rights, usable by the queue pairs of its protection domain.
// Destroying it revokes it. After revoke() or change_access() returns, no further packet is admitted
// under the old rights: a READ or WRITE of several packets may fail midway. Data of packets that were
// admitted before may still land; to exclude that, fence the queue pair (QueuePair::move_to_error).
class MemoryRegion {
 public:
  virtual ~MemoryRegion() = default;
  virtual std::uint32_t local_key() const = 0;
  virtual std::uint32_t remote_key() const = 0;
  virtual std::uint64_t offset() const = 0;
  virtual std::uint64_t length_bytes() const = 0;
  virtual Access access() const = 0;
  // The keys stay. Errors: invalid_argument (rights that libibverbs refuses), unsupported (by the
  // device; revoke and register anew). The rights are unchanged then.
  virtual Result<void> change_access(Access access) = 0;
  virtual void revoke() = 0;
};

// Regions and queue pairs work together only within one protection domain.
class ProtectionDomain {
 public:
  virtual ~ProtectionDomain() = default;
  // Errors: out_of_bounds, invalid_argument (zero length, rights that libibverbs refuses), out_of_memory
  // (the system limits locked memory, the device the number of regions).
  virtual Result<std::unique_ptr<MemoryRegion>> register_memory(std::shared_ptr<MemoryBlock> block,
                                                                std::uint64_t offset,
                                                                std::uint64_t length_bytes,
                                                                Access access) = 0;
};

// ---------------------------------------------------------------------------------------------------
// Queues

// Completions of the queue pairs attached to it. Those of one send queue come in the order of posting.
// It cannot overflow: a queue pair is refused if the queues attached would not fit the capacity.
class CompletionQueue {
 public:
  virtual ~CompletionQueue() = default;
  // Takes the oldest completions, at most destination.size(); returns how many.
  virtual std::size_t poll(std::span<WorkCompletion> destination) = 0;
  // Waits until a completion can be polled (true) or until deadline_ns (false).
  virtual bool wait(std::uint64_t deadline_ns) = 0;
};

enum class QueuePairState : std::uint8_t { ready, error, closed };

// A queue pair, connected (RC, UC) or able to send anywhere (UD).
//
// Meaning of a successful completion:
//   READ, atomic   the data is in the local buffer; an atomic has taken effect.
//   WRITE (RC)     the responder has the data. It is visible to later requests of this queue pair, not
//                  yet to the responder's processor, other devices or other queue pairs.
//   SEND (RC)      the responder has the message in a receive buffer.
//   WRITE, SEND (UC, UD)  the local buffer is free again, no more. Messages may be lost; of a lost
//                  WRITE a part may have landed.
//   receive        the message is in the buffer; on RC earlier WRITEs of the sender's queue pair are in
//                  memory too. The processor sees all of them.
// Local buffers (inlined ones too) are registered, and belong to the fabric from posting to completion,
// if inlined until posting returns; their rights are checked while posting. An
// unsignalled request is complete when a later one of its queue pair is. Its place in the queue is
// free again when the completion of itself or a later one has been polled.
//
// Failure (RC): the first request to fail completes with its status, all later ones with `flushed`,
// and the queue pair is in error. A request that failed or was flushed was not applied, applied, or
// (WRITE) applied in part, at multiples of the MTU; it may yet be applied until the responder's queue
// pair has left `ready`. If a request was applied, so were those that are ordered before it. READs and
// atomics in doubt leave their local buffers undefined. UC and UD report no failure of the network.
// When the first failure completes, data of the peer may still be landing; only a flush says that it is not.
// A peer that dies is silent. A backend that learns of it (shared memory: the process has ended) moves
// the queue pair to error by itself, and need not wait for an answer; requests that it carried out before
// it knew may have succeeded in memory that is nobody's any more.
// An error of access puts both sides into error; the responder's program sees no completion of the
// request, only its own requests flushed. On UC it is silence: the request is dropped.
class QueuePair {
 public:
  virtual ~QueuePair() = default;  // closes
  virtual std::uint32_t number() const = 0;
  virtual Transport transport() const = 0;
  virtual QueuePairState state() const = 0;

  // Posts a chain: one doorbell, in order, all of it or (on error) nothing. In state error the requests
  // are accepted and flushed. At most max_outstanding_reads_and_atomics READs and atomics are under way
  // at once; further ones wait in the queue, and what is behind them waits too.
  // Errors: queue_pair_closed, queue_full, unsupported (opcode on this transport, UD message over one
  // MTU), invalid_argument (misaligned atomic, wrong length, longer than the device's max_message_bytes,
  // fence where nothing returns data, more inline data than promised), out_of_bounds, access_denied
  // (local buffer).
  virtual Result<void> post_send(std::span<const WorkRequest> chain) = 0;
  // Errors: queue_pair_closed, queue_full, out_of_bounds, access_denied (no local write).
  virtual Result<void> post_receive(std::span<const ReceiveRequest> chain) = 0;

  // Fences the queue pair: no packet of the peer is admitted any more, own requests are flushed. What
  // had been admitted may still be landing; it has landed when the flush of a request that was posted
  // to this queue pair, before or after, has been polled. READs of the peer bring nothing any more.
  virtual void move_to_error() = 0;
  // Gives the queue pair up: as move_to_error, but without completions, and those that have not been
  // polled are gone. Posting afterwards is an error.
  virtual void close() = 0;
};

struct QueuePairOptions {
  Transport transport = Transport::reliable_connection;
  ProtectionDomain* protection_domain = nullptr;
  CompletionQueue* send_completions = nullptr;
  CompletionQueue* receive_completions = nullptr;
  std::uint32_t max_send_requests = 32;
  std::uint32_t max_receive_requests = 32;
  std::uint32_t max_inline_bytes = 0;
  // As requester. The device's limit caps it; UC and UD have none.
  std::uint32_t max_outstanding_reads_and_atomics = 16;
  // A request is given up after (retry_count + 1) * acknowledge_timeout_ns without an answer.
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;
  // How often a SEND that finds no receive request is tried again; 7 is without end.
  std::uint32_t receiver_not_ready_retry_count = 7;
};

// ---------------------------------------------------------------------------------------------------
// Devices and connections

// What atomics of a device are atomic against: nothing (absent), the atomics of the same device, or the
// processors of the host too.
enum class AtomicCapability : std::uint8_t { none, device, global };

struct DeviceAttributes {
  AtomicCapability atomic_capability = AtomicCapability::device;
  std::uint32_t mtu_bytes = 4096;
  std::uint32_t max_message_bytes = 0;  // of one request on RC or UC, however many packets it takes
  std::uint32_t max_inline_bytes = 0;
  std::uint32_t max_queue_requests = 0;
  std::uint32_t max_completions = 0;
  std::uint32_t max_outstanding_reads_and_atomics = 0;
  bool supports_unreliable_connection = false;
  bool supports_unreliable_datagram = false;
  // Whether destruction drains too: when a queue pair and the memory regions of its peer have been
  // destroyed, nothing of the peer is landing there any more, although no flush was polled.
  bool destruction_drains = false;
};

// Where a service listens: the name of a host (as the backend names them) and a service number.
struct Address {
  std::string host;
  std::uint16_t service = 0;
};

// Data exchanged while connecting, as librdmacm allows it.
inline constexpr std::size_t max_private_data_bytes = 56;
using PrivateData = std::vector<std::byte>;

struct Connection {
  std::unique_ptr<QueuePair> queue_pair;
  PrivateData private_data;  // what the other side sent along
};

// A request to connect; dropping it rejects it.
class ConnectionRequest {
 public:
  virtual ~ConnectionRequest() = default;
  virtual const PrivateData& private_data() const = 0;
  // Receive requests posted to the new queue pair before the peer sends are in time; the peer's SENDs
  // wait for them within its receiver_not_ready_retry_count. Errors: as connect.
  virtual Result<std::unique_ptr<QueuePair>> accept(const QueuePairOptions& options,
                                                    PrivateData private_data) = 0;
  virtual void reject(PrivateData reason) = 0;  // cut to max_private_data_bytes
};

class Listener {
 public:
  virtual ~Listener() = default;
  // Waits for a request; empty at deadline_ns.
  virtual std::unique_ptr<ConnectionRequest> accept(std::uint64_t deadline_ns) = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceAttributes& attributes() const = 0;
  virtual std::unique_ptr<ProtectionDomain> create_protection_domain() = 0;
  // Errors: invalid_argument (capacity of zero or beyond max_completions), out_of_memory.
  virtual Result<std::unique_ptr<CompletionQueue>> create_completion_queue(
      std::uint32_t capacity) = 0;

  // Errors: address_in_use.
  virtual Result<std::unique_ptr<Listener>> listen(std::uint16_t service) = 0;
  // Waits. RC and UC. Errors: connection_refused (the reason that the listener gave, if any, is in the
  // detail), unreachable (no answer by deadline_ns), invalid_argument, unsupported,
  // out_of_memory.
  virtual Result<Connection> connect(const Address& address, const QueuePairOptions& options,
                                     PrivateData private_data, std::uint64_t deadline_ns) = 0;

  // UD: a queue pair that sends anywhere, and the address of one elsewhere. Errors: invalid_argument,
  // unsupported; unreachable (no such host).
  virtual Result<std::unique_ptr<QueuePair>> create_datagram_queue_pair(
      const QueuePairOptions& options) = 0;
  virtual Result<DatagramAddress> resolve(const std::string& host,
                                          std::uint32_t queue_pair_number) = 0;
};

// ---------------------------------------------------------------------------------------------------
// Hosts and fibers

// A condition that fibers of one host wait for. Notifications are not remembered. A fiber that waits for
// an event when that is destroyed goes on waiting, until its deadline or its cancellation.
class Event {
 public:
  virtual ~Event() = default;
  // Waits: true when notified, false at deadline_ns.
  virtual bool wait(std::uint64_t deadline_ns) = 0;
  virtual void notify_all() = 0;
};

using FiberId = std::uint32_t;

struct FiberOptions {
  std::string_view name = "fiber";
  // The program is over when all its fibers but the daemons have returned; daemons are then cancelled.
  bool daemon = false;
};

// A rare branch that a campaign counts. Layers above declare theirs as constants with distinct indices.
struct Probe {
  std::uint8_t index;  // below max_probes
  std::string_view name;
};
inline constexpr std::size_t max_probes = 64;

// A computer (or process) and what its fibers may ask of it. Time, randomness and concurrency come from
// here alone, so that a program is deterministic where the backend is.
class Host {
 public:
  virtual ~Host() = default;
  virtual const std::string& name() const = 0;
  virtual std::size_t device_count() const = 0;
  virtual Device& device(std::size_t index) = 0;
  // Errors: invalid_argument (zero), out_of_memory.
  virtual Result<std::shared_ptr<MemoryBlock>> allocate_memory(std::uint64_t size_bytes) = 0;

  // An exception other than FiberCancelled that leaves `body` is a bug and aborts.
  virtual FiberId spawn(const FiberOptions& options, std::function<void()> body) = 0;
  // The fiber unwinds with FiberCancelled from the call it waits in, or from the next that waits; one
  // that has not started never runs.
  virtual void cancel(FiberId fiber) = 0;
  virtual bool is_cancelled() const = 0;     // the calling fiber
  virtual void may_end_here(bool here) = 0;  // the calling fiber; see EndHere
  virtual void join(FiberId fiber) = 0;      // waits until it has returned or unwound
  virtual std::unique_ptr<Event> create_event() = 0;

  virtual std::uint64_t now_ns() = 0;                       // monotonic
  virtual void sleep_until(std::uint64_t deadline_ns) = 0;  // waits
  virtual void yield() = 0;                                 // waits, for nothing in particular
  // Uniform in [0, bound). 0: all 64 bits, which may be taken for unique.
  virtual std::uint64_t random(std::uint64_t bound) = 0;

  virtual void count(const Probe& probe) = 0;
};

// While it lives, the calling fiber can end without an exception: if it is cancelled, the call in which it
// waits for the clock, an event, a completion or a connection is over as if the deadline had come. The fiber
// then asks is_cancelled(), and returns. That is for the one place where a daemon waits for new work, with
// nothing half done: unwinding costs as much as dozens of steps of the simulator. It happens once; if the
// fiber waits again, it is unwound.
class EndHere {
 public:
  explicit EndHere(Host& host) : host_(host) { host_.may_end_here(true); }
  ~EndHere() { host_.may_end_here(false); }
  EndHere(const EndHere&) = delete;
  EndHere& operator=(const EndHere&) = delete;

 private:
  Host& host_;
};

}  // namespace falafel::fabric
