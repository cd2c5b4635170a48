// Building blocks of bodies: memory, connections, requests with waiting, and pairs of hosts that
// can communicate besides the connection under test.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/time_units.h"
#include "tests/conformance/harness.h"
#include "tests/hang_limit.h"

namespace falafel::fabric {

inline void PrintTo(CompletionStatus status, std::ostream* stream) { *stream << to_string(status); }
inline void PrintTo(ErrorCode code, std::ostream* stream) { *stream << to_string(code); }
inline void PrintTo(Opcode opcode, std::ostream* stream) { *stream << to_string(opcode); }

}  // namespace falafel::fabric

namespace falafel::conformance {

using namespace fabric;  // the suite uses nothing else

using fabric::microsecond_ns;
using fabric::millisecond_ns;
// far more than successful operations need
inline constexpr std::uint64_t patience_ns = hang_limit_ns;
inline constexpr Access all_rights{
    .local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true};

// -------------------------------------------------------------------------------------------------
// Bytes

// Returns bytes that are not zero and differ from those of other salts.
std::vector<std::byte> pattern(std::size_t length_bytes, std::uint8_t salt = 0);
std::vector<std::byte> read_bytes(MemoryBlock& block, std::uint64_t offset,
                                  std::size_t length_bytes);

template <typename Value>
PrivateData to_private_data(const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

template <typename Value>
Value from_private_data(const PrivateData& data) {
  require(data.size() >= sizeof(Value), "private data is too short");  // a transport may pad it
  Value value;
  std::memcpy(&value, data.data(), sizeof(Value));
  return value;
}

// Returns the error, if the result is one: EXPECT_EQ(error_of(result), ErrorCode::queue_full).
template <typename Value>
std::optional<ErrorCode> error_of(const Result<Value>& result) {
  if (result.has_value()) return std::nullopt;
  return result.error().code;
}

// -------------------------------------------------------------------------------------------------
// One host

// A block that is registered as a whole.
struct Memory {
  std::shared_ptr<MemoryBlock> block;
  std::unique_ptr<MemoryRegion> region;

  MemoryAddress local(std::uint64_t offset = 0) const { return {region->local_key(), offset}; }
};

// A device with a protection domain.
struct Site {
  explicit Site(Host& owner, std::size_t device_index = 0);
  Memory make_memory(std::uint64_t size_bytes, Access access = all_rights);
  std::unique_ptr<CompletionQueue> make_completion_queue(std::uint32_t capacity = 64);

  Host& host;
  Device& device;
  std::unique_ptr<ProtectionDomain> protection_domain;
};

// Returns whether the condition held before patience_ns had passed. Checks at random intervals,
// because a program that never sleeps leaves no time to others.
bool wait_until(Host& host, const std::function<bool()>& condition);

void sleep(Host& host, std::uint64_t duration_ns);

// -------------------------------------------------------------------------------------------------
// A connection

WorkRequest make_request(Opcode opcode, MemoryAddress local, std::uint32_t length_bytes,
                         MemoryAddress remote = {});

// A queue pair with its own completion queues. A device without RC has a message stream instead.
struct Link {
  Link(Site& site, const QueuePairOptions& wanted);

  void post(std::span<const WorkRequest> chain);
  void post(std::initializer_list<WorkRequest> chain) { post(std::span(chain)); }
  void post_receive(const MemoryAddress& local, std::uint32_t length_bytes, std::uint64_t id = 0);
  WorkCompletion next_completion();
  WorkCompletion next_received();
  WorkCompletion execute(const WorkRequest& request);  // posts it and takes the next completion

  Host& host;
  std::unique_ptr<CompletionQueue> send_completions;
  std::unique_ptr<CompletionQueue> receive_completions;
  QueuePairOptions options;
  std::unique_ptr<QueuePair> queue_pair;
  PrivateData private_data;  // what the other side sent
};

// Retries until there is a listener.
Link connect_link(Site& site, const Address& address, const QueuePairOptions& options = {},
                  const PrivateData& private_data = {});
Link accept_link(Site& site, Listener& listener, const QueuePairOptions& options = {},
                 const PrivateData& private_data = {});

// Both ends of a device's connection to itself.
struct Loopback {
  Link near;
  Link far;
};
Loopback connect_to_itself(Site& site, const QueuePairOptions& options = {});

// Exchanges words between two hosts, besides the connection under test.
class Channel {
 public:
  Channel(Site& site, Link link);
  void tell(std::uint64_t word = 0);
  std::uint64_t hear();

 private:
  void post_receive(std::uint64_t slot);

  Memory memory_;
  Link link_;
};

// -------------------------------------------------------------------------------------------------
// Pairs of hosts

// Gives up on a silent responder after 40 ms, but not on one that a busy machine delays.
inline constexpr QueuePairOptions impatient{.acknowledge_timeout_ns = 20 * millisecond_ns,
                                            .retry_count = 1};

struct PairOptions {
  QueuePairOptions queue_pair{};
  std::uint64_t memory_bytes = 8192;
  Access access = all_rights;  // of each side's memory
  std::uint32_t client_count = 1;
  bool farewell = true;  // the sides wait for each other at the end; false if one of them crashes
};

// State that the sides on one host share. A base class, so that it outlives the queue pairs of a
// Peer.
struct Home {
  std::shared_ptr<Site> site;
  std::shared_ptr<Memory> memory;
};

// One side of a connection between the server and a client, with memory that the other side may
// access. Requests take offsets in this side's and in the other side's memory.
struct Peer : Home, Link {
  Peer(Home home, Link link, Channel channel_beside, std::uint32_t client_index);

  WorkRequest read(std::uint64_t local_offset, std::uint64_t remote_offset,
                   std::uint32_t length_bytes) const;
  WorkRequest write(std::uint64_t local_offset, std::uint64_t remote_offset,
                    std::uint32_t length_bytes) const;
  WorkRequest compare_and_swap(std::uint64_t local_offset, std::uint64_t remote_offset,
                               std::uint64_t expected, std::uint64_t desired) const;
  WorkRequest fetch_and_add(std::uint64_t local_offset, std::uint64_t remote_offset,
                            std::uint64_t addend) const;
  WorkRequest send(std::uint64_t local_offset, std::uint32_t length_bytes) const;

  void succeed(const WorkRequest& request,
               std::source_location location = std::source_location::current());
  // Reads bytes of the other side's memory into the start of this side's memory.
  std::vector<std::byte> fetch(std::uint64_t remote_offset, std::uint32_t length_bytes);
  std::uint64_t fetch_word(std::uint64_t remote_offset);
  MemoryAddress remote(std::uint64_t offset) const { return {remote_key, offset}; }
  MemoryBlock& block() const { return *memory->block; }

  Channel channel;
  std::uint32_t index;  // of the client
  std::uint32_t remote_key;
};

// Posts the request and returns the error of posting, if any.
std::optional<ErrorCode> error_of_posting(Peer& peer, const WorkRequest& request);
std::optional<ErrorCode> error_of_posting(Peer& peer, std::span<const WorkRequest> chain);

using PeerBody = std::function<void(Peer&)>;

inline void nothing(Peer&) {}

// Adds the host "server" and client_count hosts "client_0", ... Each side of each pair runs its
// body; the server's sides are fibers that share one memory. `at_end` sees that memory after all of
// them.
void add_pairs(Backend& backend, const PairOptions& options, const PeerBody& client,
               const PeerBody& server = nothing,
               const std::function<void(Site&, Memory&)>& at_end = {});

}  // namespace falafel::conformance
