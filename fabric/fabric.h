// The fabric: the interface of an RDMA network, independent of its implementation (a deterministic
// simulator, shared memory, libibverbs). This file contains the contracts; docs/fabric.md explains
// the same rules in prose, with their sources. The vocabulary is that of libibverbs, and every call
// maps onto it.
//
// Programs are fibers of a host. A call marked "waits" suspends the calling fiber and lets other
// fibers of its thread run; every other call returns immediately. All calls on a host's objects
// come from the fibers of that host. When a host crashes, its objects are lost, and later calls
// have no effect.
//
// Ordering on one queue pair (the rules of InfiniBand, and nothing beyond them):
//   first \ then      READ         WRITE, SEND    atomic
//   WRITE, SEND       ordered      ordered        ordered
//   READ              unordered*   fence          fence
//   atomic            ordered      fence          fence
//   "ordered": the first has taken effect in the responder's memory before the second does.
//   "fence": ordered only if the second is `fenced`.     *: requests travel in order, but memory is
//   sampled in any order; completions arrive in order.
//   WRITE with immediate and SEND with immediate are ordered as WRITE and SEND.
// There is no order between queue pairs. Regions may weaken the first row, see Access.
//
// A transfer of no bytes needs neither a key nor rights.
//
// Atomic width: an aligned word of 8 bytes is read and written atomically. Longer transfers proceed
// word by word, in any order and spread over time, for READs and for WRITEs.
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
#include "fabric/processor.h"
#include "fabric/work_request.h"

namespace falafel::fabric {

inline constexpr std::uint64_t never_ns = ~std::uint64_t{0};  // a deadline that never arrives

// Thrown by the waiting calls of a fiber that was cancelled, or whose host crashed, to unwind it;
// fabric/cooperative_cancellation.h offers an alternative. Must not be swallowed, and destructors
// that run during unwinding must not wait. Not a subclass of std::exception, so that error handlers
// do not catch it.
struct FiberCancelled {};

// -------------------------------------------------------------------------------------------------
// Memory

// Rights of a memory region. As in libibverbs, remote write and remote atomic require local write.
//
// The last two weaken the order on a queue pair. They are hints, so a device may keep more order:
//   relaxed_ordering   A WRITE to the region and another WRITE of the same queue pair, to this or
//                      any other region, are unordered, even where they overlap. The words of one
//                      WRITE are in no order even if the device places_in_address_order.
//   unordered          Also, a READ of the region may take words from before earlier WRITEs. The
//                      words of a READ are in no order. Implies relaxed_ordering.
// All else stays ordered: a WRITE before a later SEND or atomic and, without `unordered`, before a
// later READ. Completions mean what they always do: a request that is posted after the completion
// of a WRITE was polled acts after the WRITE, and the completion of a later READ or of a receive
// request shows the data to the processor.
struct Access {
  bool local_write = false;
  bool remote_read = false;
  bool remote_write = false;
  bool remote_atomic = false;
  bool relaxed_ordering = false;
  bool unordered = false;

  friend bool operator==(const Access&, const Access&) = default;
};

// Contiguous memory of a host, initially zero and page-aligned. It lives as long as this object and
// the regions registered over it.
//
// The processor's view: the four calls below may race with remote traffic. load and store access
// one aligned word atomically. read and write move longer ranges word by word, in ascending order,
// and concurrent traffic may tear them. The processor's compare_and_swap is atomic with respect to
// the processors of its host, and with respect to a device only if the device has
// AtomicCapability::global. Each call may suspend the fiber.
//
// Others may see the processor's stores late: in their order, word by word. The fibers of the host
// see them at once, so a later load may come before an earlier store. compare_and_swap is a fence,
// whether or not it matches: others see all earlier stores before it, and before later loads. A
// posted request acts after all earlier stores, but posting is no fence for later loads. Posting
// receive requests, registering memory, changing or revoking rights, moving a queue pair to error,
// closing it, connecting and accepting have effects only after all earlier stores.
//
// The processor may see the words that a peer's WRITE changed late, one by one. It certainly sees
// them after it has polled the receive completion of a later SEND of that queue pair or a `flushed`
// completion of its own end, or after a later READ of that queue pair has completed. READs find
// them before.
//
// bytes() is for ranges that no remote party and no work in flight accesses concurrently.
//
// Memory of Host::reserve_memory is an address range that holds no memory of the system before
// commit(). Only committed memory may be accessed by the processor, or by peers that WRITE or
// change words. A peer may READ any registered memory; what it gets of memory that is not committed
// is undefined. commit() makes a range usable; where it was committed already, it changes nothing.
// release() gives the memory of a range back to the system, as far as the backend can: nobody may
// use it before the next commit(), which leaves undefined what it holds. Memory that was never
// committed before is zero. Systems give memory in whole pages, so a backend may commit more than
// the range and release less. Other blocks are committed from the start, and support both calls.
//
// wait_until_changed waits until the processor sees another word than `seen` at the offset, and
// returns it. It returns `seen` only at deadline_ns, or to a cooperative fiber that is cancelled;
// there are no spurious returns. Changes by peers, by work in flight and by other fibers of the
// host end the wait, changes through bytes() do not. It may miss a change that is undone before the
// fiber runs. InfiniBand does not promise that a processor ever sees a WRITE without one of the
// events above; every backend promises that this wait ends. The new word says nothing about other
// words of the same WRITE, unless the device places_in_address_order and the region does not say
// otherwise (Access::relaxed_ordering).
class MemoryBlock {
 public:
  virtual ~MemoryBlock() = default;
  virtual std::span<std::byte> bytes() = 0;
  virtual std::uint64_t load(std::uint64_t offset) = 0;
  virtual void store(std::uint64_t offset, std::uint64_t value) = 0;
  // Returns the previous word, which was replaced if it equals `expected`.
  virtual std::uint64_t compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                         std::uint64_t desired) = 0;
  virtual void read(std::uint64_t offset, std::span<std::byte> destination) = 0;
  virtual void write(std::uint64_t offset, std::span<const std::byte> source) = 0;
  virtual std::uint64_t wait_until_changed(std::uint64_t offset, std::uint64_t seen,
                                           std::uint64_t deadline_ns) = 0;
  // Errors: out_of_memory (the system has no more; nothing has changed). Does not wait.
  virtual Result<void> commit(std::uint64_t offset, std::uint64_t length_bytes) = 0;
  virtual void release(std::uint64_t offset, std::uint64_t length_bytes) = 0;
};

// A registered range of a memory block with access rights, usable by the queue pairs of its
// protection domain. Destroying the region revokes it. After revoke() or change_access() returns,
// the device admits no further packets under the old rights, so a READ or WRITE of several packets
// may fail midway. Data of packets admitted earlier may still land; to exclude that, fence the
// queue pair (QueuePair::move_to_error).
class MemoryRegion {
 public:
  virtual ~MemoryRegion() = default;
  virtual std::uint32_t local_key() const = 0;
  virtual std::uint32_t remote_key() const = 0;
  virtual std::uint64_t offset() const = 0;
  virtual std::uint64_t length_bytes() const = 0;
  virtual Access access() const = 0;
  // The keys do not change. Errors: invalid_argument (rights that libibverbs refuses), unsupported
  // (by the device; revoke the region and register a new one; or as for register_memory). After an
  // error, the rights are unchanged.
  virtual Result<void> change_access(Access access) = 0;
  virtual void revoke() = 0;
};

// Regions and queue pairs can be used together only within one protection domain.
class ProtectionDomain {
 public:
  virtual ~ProtectionDomain() = default;
  // Errors: out_of_bounds, invalid_argument (zero length, rights that libibverbs refuses),
  // out_of_memory (the system limits locked memory, the device limits the number of regions),
  // unsupported (`relaxed_ordering` or `unordered`, where a backend cannot ask its device for it).
  virtual Result<std::unique_ptr<MemoryRegion>> register_memory(std::shared_ptr<MemoryBlock> block,
                                                                std::uint64_t offset,
                                                                std::uint64_t length_bytes,
                                                                Access access) = 0;
};

// -------------------------------------------------------------------------------------------------
// Queues

// Completions of the attached queue pairs. Completions of one send queue arrive in posting order.
// The queue cannot overflow: a queue pair is refused if the attached queues would not fit the
// capacity.
class CompletionQueue {
 public:
  virtual ~CompletionQueue() = default;
  // Takes the oldest completions, at most destination.size(), and returns their number.
  virtual std::size_t poll(std::span<WorkCompletion> destination) = 0;
  // Waits until a completion can be polled (true) or until deadline_ns (false).
  virtual bool wait(std::uint64_t deadline_ns) = 0;
};

// A receive queue for several queue pairs (RC, UC), which take its requests as messages arrive.
// Each queue pair takes the oldest request. The messages of one queue pair take requests in their
// order; between queue pairs there is no order. The completion arrives in the receive completion
// queue of the queue pair that took the request, and names that queue pair. Once it has been
// polled, the place is free again.
//
// The failure of a queue pair concerns only the requests that it has taken: one that was not
// completed is flushed. All others stay for the other queue pairs, so a queue pair without sends
// has nothing to flush; to wait for its fence, post a send. A request whose completion is not
// polled before its queue pair is closed is lost, and its place is free.
//
// Destroy it after its queue pairs.
class SharedReceiveQueue {
 public:
  virtual ~SharedReceiveQueue() = default;
  // Errors: queue_full, out_of_bounds, access_denied (no local write), invalid_argument (a list of
  // segments, see QueuePair::post_send).
  virtual Result<void> post_receive(std::span<const ReceiveRequest> chain) = 0;
};

struct SharedReceiveQueueOptions {
  ProtectionDomain* protection_domain = nullptr;
  std::uint32_t max_receive_requests = 32;
  std::uint32_t max_receive_segments = 1;  // per receive request
};

enum class QueuePairState : std::uint8_t { ready, error, closed };

// A queue pair, either connected (RC, UC, message stream) or able to send anywhere (UD).
//
// Meaning of a successful completion:
//   READ, atomic   The data is in the local buffer; an atomic has taken effect.
//   WRITE (RC)     The responder has the data. It is visible to later requests of this queue pair,
//                  but not yet to the responder's processor, other devices or other queue pairs.
//   SEND (RC)      The responder has the message in a receive buffer.
//   WRITE with immediate (RC)  As WRITE; the number has consumed a receive request.
//   WRITE, SEND (UC, UD)  The local buffer is free again; nothing else is guaranteed. Messages may
//                  be lost; a part of a lost WRITE may have landed.
//   SEND (message stream)  This host's kernel has the message, and the local buffer is free again.
//                  The peer may never receive it.
//   receive        The message is in the buffer. On RC, earlier WRITEs of the sender's queue pair
//                  are in memory too. The processor sees all of them.
//   receive_of_write  As receive, with all data of the WRITE with immediate in memory; the buffer
//                  is unchanged.
//
// A WRITE with immediate consumes the responder's oldest receive request when its last packet
// arrives, and completes it when all data is in memory. The packets before the last one, and the
// last one too, may land while it waits for a receive request. If it finds none, it fails as a SEND
// does, and its data may have landed all the same.
//
// Masked atomics access their word as the other atomics do, as a whole. They replace, or add to,
// only a part of its bits, and write the others back as they read them.
//
// Local buffers (including inlined ones) are registered, each segment on its own. They belong to
// the fabric from posting to completion, or until posting returns if inlined; posting checks their
// rights. Segments concern this host alone: at the responder, the transfer is one range, and its
// aligned words are whole, even one that comes from two segments or goes to two. An unsignalled
// request is complete when a later one of its queue pair is. Its place in the queue becomes free
// when its own completion or a later one has been polled.
//
// Failure (RC): the first request to fail completes with its status, all later ones complete with
// `flushed`, and the queue pair enters the error state. A request that failed or was flushed may
// have been applied, not applied, or (WRITE) applied in part, at multiples of the MTU. It may still
// be applied until the responder's queue pair has left `ready`. If a request was applied, so were
// those ordered before it. READs and atomics in doubt leave their local buffers undefined. UC and
// UD do not report failures of the network.
//
// When the first failure completes, data of the peer may still be landing; only a completed flush
// guarantees that it is not. A crashed peer is silent. A backend that detects the crash (shared
// memory: the process has ended) moves the queue pair to the error state on its own and need not
// wait for a time-out. Requests that it executed before the detection may have succeeded in memory
// that nobody owns any more.
//
// An access error puts both sides into the error state. The responder's program sees no completion
// of the request; only its own requests are flushed. On UC, the request is dropped silently.
//
// A message stream has SEND and RECV only, without immediate numbers, fences, shared receive queues
// and hears_close. Messages arrive whole, once and in the order sent, up to the end of the stream.
// Those that find no receive request wait for one, and the kernels may stop accepting further ones
// meanwhile: a SEND may take until the peer has received it. The stream ends on both sides when a
// side closes it, moves it to error or dies, or when the network fails. What was sent last may then
// be lost, however much of it, even if its SENDs have succeeded. All of it arrives only if the
// sender then calls close(), the network and both hosts stay alive, and the peer has sent nothing
// that was not received before. A side that learns of the end goes to the error state: its oldest
// pending SEND completes with retry_exceeded, all other requests with `flushed`. A side that only
// receives may never learn that the peer's machine or the network has failed. A side that sends
// learns of it (retry_count + 1) * acknowledge_timeout_ns after the peer became silent.
class QueuePair {
 public:
  virtual ~QueuePair() = default;  // closes
  virtual std::uint32_t number() const = 0;
  virtual Transport transport() const = 0;
  virtual QueuePairState state() const = 0;

  // Posts a chain: one doorbell, in order; either all of it or, on error, nothing. In the error
  // state, requests are accepted and flushed. At most max_outstanding_reads_and_atomics READs and
  // atomics are outstanding; further ones wait in the queue and delay the requests behind them.
  // Errors: queue_pair_closed, queue_full, unsupported (opcode on this transport or device, UD
  // message over one MTU), invalid_argument (misaligned atomic, wrong length, longer than the
  // device's max_message_bytes, fence where nothing returns data, more inline data than promised),
  // out_of_bounds, access_denied (local buffer). A list of segments is an invalid_argument if it is
  // longer than promised, contains an empty segment, does not add up to length_bytes, or belongs
  // to an atomic.
  virtual Result<void> post_send(std::span<const WorkRequest> chain) = 0;
  // Errors: queue_pair_closed, queue_full, out_of_bounds, access_denied (no local write),
  // invalid_argument (a list of segments as above; on UD also one whose first segment does not hold
  // the routing data; a queue pair with a shared receive queue).
  virtual Result<void> post_receive(std::span<const ReceiveRequest> chain) = 0;

  // Fences the queue pair: the device admits no further packets of the peer and flushes own
  // requests. Data admitted earlier may still be landing. It has landed when the flush of any
  // request posted to this queue pair, before or after, has been polled. READs of the peer return
  // no more data.
  virtual void move_to_error() = 0;
  // Closes the queue pair: like move_to_error, but without completions, and unpolled completions
  // are lost. Posting afterwards is an error.
  virtual void close() = 0;

  // Waits until this side hears that the peer has closed its end (true), or until deadline_ns
  // (false). Closing this end ends the wait, too (false); destroy the queue pair only afterwards.
  // Requires QueuePairOptions::hears_close. The notice travels apart from requests: it may arrive
  // before or after those that the peer sent earlier, and it may take any time. It changes nothing
  // here: the queue pair stays `ready`, requests time out, and data of the peer may still be
  // landing. A crash of the peer is silent, also one that loses a notice on its way.
  virtual bool wait_until_peer_closed(std::uint64_t deadline_ns) = 0;

  // Tells if the words of a WRITE of the peer land in this side's memory in ascending order, as on
  // a device that places_in_address_order. Some devices promise it for a connected queue pair only.
  // It says nothing about READs.
  virtual bool places_in_address_order() const = 0;
};

struct QueuePairOptions {
  Transport transport = Transport::reliable_connection;
  ProtectionDomain* protection_domain = nullptr;
  CompletionQueue* send_completions = nullptr;
  CompletionQueue* receive_completions = nullptr;
  // If not null, takes the place of the own receive queue, whose limits below are ignored. It
  // belongs to the same protection domain. The receive completion queue needs entries for all of
  // its requests, once for all queue pairs that complete there.
  SharedReceiveQueue* shared_receive_queue = nullptr;
  std::uint32_t max_send_requests = 32;
  std::uint32_t max_receive_requests = 32;
  std::uint32_t max_inline_bytes = 0;
  std::uint32_t max_send_segments = 1;     // per request
  std::uint32_t max_receive_segments = 1;  // per receive request
  // As requester. The device's limit caps it; only RC has such requests.
  std::uint32_t max_outstanding_reads_and_atomics = 16;
  // A request fails after (retry_count + 1) * acknowledge_timeout_ns without an answer.
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;
  // How often a SEND or WRITE with immediate that finds no receive request is retried; 7 means
  // forever.
  std::uint32_t receiver_not_ready_retry_count = 7;
  // RC and UC: whether this side is told that its peer has closed. On libibverbs it costs each side
  // a socket for as long as the connection lasts.
  bool hears_close = false;
};

// -------------------------------------------------------------------------------------------------
// Devices and connections

// The accesses with respect to which a device's atomics are atomic: none (atomics are unsupported),
// the atomics of the same device, or also the processors of the host.
enum class AtomicCapability : std::uint8_t { none, device, global };

struct DeviceAttributes {
  AtomicCapability atomic_capability = AtomicCapability::device;
  std::uint32_t mtu_bytes = 4096;
  // per request on RC, UC or a message stream, regardless of the number of packets
  std::uint32_t max_message_bytes = 0;
  std::uint32_t max_inline_bytes = 0;
  std::uint32_t max_queue_requests = 0;
  std::uint32_t max_completions = 0;
  std::uint32_t max_outstanding_reads_and_atomics = 0;
  std::uint32_t max_scatter_gather_entries = 1;  // segments per request
  std::uint32_t max_shared_receive_queues = 0;   // 0: the device has none
  bool has_masked_atomics = false;
  bool supports_reliable_connection = true;
  bool supports_unreliable_connection = false;
  bool supports_unreliable_datagram = false;
  bool supports_message_stream = false;
  // If true, destruction also drains: after a queue pair and the memory regions of its peer have
  // been destroyed, no data of the peer lands there, even if no flush was polled.
  bool destruction_drains = false;
  // If true, this device, as the responder, places the words of a WRITE in ascending order of their
  // addresses, so that the processor sees none before those below it, and samples those of a READ
  // in that order. Nothing else becomes ordered. Regions may waive it, see Access.
  bool places_in_address_order = false;
};

// The address of a service: the name of a host in the backend's naming, and a service number.
struct Address {
  std::string host;
  std::uint16_t service = 0;
};

// Data exchanged during connection, with librdmacm's limit.
inline constexpr std::size_t max_private_data_bytes = 56;
using PrivateData = std::vector<std::byte>;

struct Connection {
  std::unique_ptr<QueuePair> queue_pair;
  PrivateData private_data;  // sent by the other side
};

// A connection request; dropping it rejects it.
class ConnectionRequest {
 public:
  virtual ~ConnectionRequest() = default;
  virtual const PrivateData& private_data() const = 0;
  // `first_receives` are posted before the peer can send. It may send as soon as this process has
  // answered, and a SEND that finds no receive request waits within the peer's
  // receiver_not_ready_retry_count, with all requests behind it, even if this process is stopped.
  // Errors: see connect; the request can then still be rejected with a reason. An error of
  // `first_receives` (see QueuePair::post_receive) rejects it.
  virtual Result<std::unique_ptr<QueuePair>> accept(
      const QueuePairOptions& options, PrivateData private_data,
      std::span<const ReceiveRequest> first_receives = {}) = 0;
  virtual void reject(PrivateData reason) = 0;  // truncated to max_private_data_bytes
};

class Listener {
 public:
  virtual ~Listener() = default;
  // Waits for a request; returns null at deadline_ns.
  virtual std::unique_ptr<ConnectionRequest> accept(std::uint64_t deadline_ns) = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceAttributes& attributes() const = 0;
  virtual std::unique_ptr<ProtectionDomain> create_protection_domain() = 0;
  // Errors: invalid_argument (capacity of zero or above max_completions), out_of_memory.
  virtual Result<std::unique_ptr<CompletionQueue>> create_completion_queue(
      std::uint32_t capacity) = 0;

  // Errors: unsupported (max_shared_receive_queues is 0), invalid_argument (limits, domain),
  // out_of_memory.
  virtual Result<std::unique_ptr<SharedReceiveQueue>> create_shared_receive_queue(
      const SharedReceiveQueueOptions& options) = 0;

  // Errors: address_in_use.
  virtual Result<std::unique_ptr<Listener>> listen(std::uint16_t service) = 0;
  // Waits. For all but UD. Errors: connection_refused (`detail` contains the listener's reason, if
  // any), unreachable (no answer by deadline_ns), invalid_argument, unsupported, out_of_memory.
  virtual Result<Connection> connect(const Address& address, const QueuePairOptions& options,
                                     PrivateData private_data, std::uint64_t deadline_ns) = 0;

  // UD: a queue pair that can send anywhere, and the address of one on another host. Errors:
  // invalid_argument, unsupported; unreachable (no such host).
  virtual Result<std::unique_ptr<QueuePair>> create_datagram_queue_pair(
      const QueuePairOptions& options) = 0;
  virtual Result<DatagramAddress> resolve(const std::string& host,
                                          std::uint32_t queue_pair_number) = 0;
};

// -------------------------------------------------------------------------------------------------
// Hosts and fibers

// Memory that outlives the host's process, see Host::keep_memory.
struct KeptMemory {
  std::shared_ptr<MemoryBlock> block;
  bool is_new = true;  // zero, because no earlier process kept memory under this name
};

// A condition that fibers of one host wait for. Notifications are not remembered. If the event is
// destroyed, fibers that wait for it continue to wait until their deadline or cancellation.
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
  // The program is over when all fibers except daemons have returned; daemons are then cancelled.
  bool daemon = false;
};

// A rare branch that campaigns count. Higher layers declare their probes as constants with distinct
// indices.
struct Probe {
  std::uint8_t index;  // below max_probes
  std::string_view name;
};
inline constexpr std::size_t max_probes = 64;

// A computer (or process) and the services for its fibers. They are the only source of time,
// randomness and concurrency, so a program is deterministic if the backend is.
class Host : public Processor {
 public:
  virtual const std::string& name() const = 0;
  virtual std::size_t device_count() const = 0;
  virtual Device& device(std::size_t index) = 0;
  // Errors: invalid_argument (zero), out_of_memory.
  virtual Result<std::shared_ptr<MemoryBlock>> allocate_memory(std::uint64_t size_bytes) = 0;
  // Memory that stays when the process ends, however it ends: the next process of this host that
  // keeps memory under the same name finds all that reached it, and all stores of the processor.
  // Peers of the earlier process change nothing any more once this returns. Outside of the
  // simulator, the name is the path of a file. Errors: invalid_argument (zero; the memory kept
  // under this name has another size), address_in_use (a running process keeps it), access_denied,
  // out_of_memory, unsupported.
  virtual Result<KeptMemory> keep_memory(const std::string& name, std::uint64_t size_bytes) = 0;
  // The same without memory of the system: a program commits what it uses (MemoryBlock::commit). A
  // backend whose devices need all memory from the start commits it. Kept memory stays committed
  // where it was when the process ended; the next process commits again what it uses. Errors: as
  // above.
  virtual Result<std::shared_ptr<MemoryBlock>> reserve_memory(std::uint64_t size_bytes) = 0;
  virtual Result<KeptMemory> keep_reserved_memory(const std::string& name,
                                                  std::uint64_t size_bytes) = 0;

  // An exception other than FiberCancelled that leaves `body` is a bug and aborts the program.
  virtual FiberId spawn(const FiberOptions& options, std::function<void()> body) = 0;
  // Unwinds the fiber with FiberCancelled from the call in which it waits, or from the next one
  // that waits. A fiber that has not started never runs.
  virtual void cancel(FiberId fiber) = 0;
  virtual bool is_cancelled() const = 0;  // the calling fiber
  // Chooses how a cancellation ends the calling fiber; see CooperativeCancellation.
  virtual void set_cooperative(bool is_cooperative) = 0;
  virtual void join(FiberId fiber) = 0;  // waits until it has returned or unwound
  virtual std::unique_ptr<Event> create_event() = 0;

  // The monotonic clock, which all deadlines refer to. It starts at any value, may run a little
  // fast or slow, and never goes backward. The clocks of two hosts are unrelated.
  virtual std::uint64_t now_ns() = 0;
  // The time since 1970 as far as the host knows. It may differ from that of other hosts, and may
  // be set forward or backward at any time.
  virtual std::uint64_t wall_clock_ns() = 0;
  virtual void sleep_until(std::uint64_t deadline_ns) = 0;  // waits
  virtual void yield() = 0;                                 // waits only to let others run
  // For private structures that fibers share as threads would: the processor may be taken away
  // here, so that others run. It may suspend the fiber, but waits for nothing; the simulator
  // decides by a choice, and backends in real time continue. Without such points, a fiber is alone
  // between two waits, and nobody ever contends for a lock in private memory.
  virtual void preemption_point() = 0;
  // Uniform in [0, bound). 0: all 64 bits, which may be assumed to be unique.
  virtual std::uint64_t random(std::uint64_t bound) = 0;

  virtual void count(const Probe& probe) = 0;
};

}  // namespace falafel::fabric
