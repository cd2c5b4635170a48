// The environment of a litmus test: a server whose memory the tests observe, and clients connected
// to it. A party is one host with its memory, its queue pairs and short names for its requests.
// Locations are counted in words. The server's program begins after it has accepted all
// connections.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/simulation.h"

namespace falafel::litmus {

inline constexpr std::size_t max_requests = 16;  // per party and run
inline constexpr std::size_t max_devices = 2;
// All connections exist by then. The time is fixed, so the clock jumps there and all parties become
// ready at once.
inline constexpr std::uint64_t programs_start_ns = 2'000'000;

class Party;
class Trial;
using Program = std::function<void(Party&)>;

// The configuration of a run's parties.
struct Stage {
  std::uint64_t memory_words = 16;  // per party; clients use their memory as local buffers
  std::uint64_t client_count = 1;
  std::uint64_t connections_per_client = 1;
  std::uint64_t server_device_count = 1;  // client i uses device i modulo this
  bool destruction_drains = false;        // of the server's devices
  // If not zero, all queue pairs of the server share a receive queue for this number of requests.
  std::uint32_t shared_receive_requests = 0;
  // Each queue pair has a completion queue for receives of its own.
  bool separate_receive_completions = false;
  bool is_explored = false;             // the run is one of an exhaustive exploration
  fabric::QueuePairOptions queue_pair;  // without references to objects
  Program prepare_server;               // runs once connected, before all programs
};

class Party {
 public:
  Party(Trial& trial, std::size_t number, fabric::Host& host);

  Trial& trial() const { return trial_; }
  fabric::Host& host() const { return host_; }
  fabric::MemoryBlock& memory() const { return *memory_; }
  fabric::MemoryRegion& region(std::size_t index = 0) const { return *regions_.at(index); }
  fabric::ProtectionDomain& domain() const { return *domains_.front(); }
  fabric::QueuePair& queue_pair(std::size_t index = 0) const { return *queue_pairs_.at(index); }

  // Accesses by the processor. Each access is a separate step, so traffic may arrive before it.
  std::uint64_t load(std::uint64_t word);
  void store(std::uint64_t word, std::uint64_t value);
  std::uint64_t processor_compare_and_swap(std::uint64_t word, std::uint64_t expected,
                                           std::uint64_t desired);
  // Lets other actors take steps, by yielding up to `most` times. An exploration goes through all
  // runs in which others make any number of steps at one yield.
  void yield_at_random(std::uint64_t most);

  // Requests to the server's memory. Each uses the next words of the party's own memory as local
  // buffer.
  fabric::WorkRequest read(std::uint64_t word, std::uint64_t count = 1);
  fabric::WorkRequest write(std::uint64_t word, std::initializer_list<std::uint64_t> values);
  fabric::WorkRequest fill(std::uint64_t word, std::uint64_t value, std::uint64_t count);
  fabric::WorkRequest compare_and_swap(std::uint64_t word, std::uint64_t expected,
                                       std::uint64_t desired);
  fabric::WorkRequest fetch_and_add(std::uint64_t word, std::uint64_t addend);
  fabric::WorkRequest send(std::initializer_list<std::uint64_t> values);

  void post(std::initializer_list<fabric::WorkRequest> chain, std::size_t queue_pair = 0);
  fabric::Result<void> try_post(std::initializer_list<fabric::WorkRequest> chain,
                                std::size_t queue_pair = 0) {
    return try_post(std::span(chain.begin(), chain.size()), queue_pair);
  }
  fabric::Result<void> try_post(std::span<const fabric::WorkRequest> chain,
                                std::size_t queue_pair = 0);
  void finish();  // waits until all posted signalled requests have completed
  std::uint64_t result(const fabric::WorkRequest& request, std::uint64_t index = 0) const;
  fabric::CompletionStatus status(const fabric::WorkRequest& request) const;
  // The completion of the last request that failed.
  const fabric::WorkCompletion& last_failure() const { return last_failure_; }
  // The identifiers of the requests in completion order.
  const std::vector<std::uint64_t>& completed() const { return completed_; }

  void post_receive(std::uint64_t word, std::uint64_t count = 1, std::size_t queue_pair = 0);
  void post_shared_receive(std::uint64_t word);
  // Returns nullopt at the deadline. The queue pair matters only if receive completions are
  // separate.
  std::optional<fabric::WorkCompletion> await_message(std::uint64_t deadline_ns = fabric::never_ns,
                                                      std::size_t queue_pair = 0);
  bool has_completion();                               // a completion that was not polled yet
  std::uint64_t final_word(std::uint64_t word) const;  // of this party's memory after the run

  fabric::ProtectionDomain& add_domain();
  // Registers a part of the memory again; returns the index of the new region.
  std::size_t add_region(std::uint64_t word, std::uint64_t count, fabric::Access access,
                         fabric::ProtectionDomain& domain);
  // Create another connection, as the server and as the client; they return its index.
  std::size_t accept();
  std::size_t connect();

 private:
  friend class Trial;
  void set_up();
  void forget_former_life();
  void set_up_device(std::size_t index);
  void share_receives();
  void boot_as_server();
  void boot_as_client();
  void open_datagram_queue_pair();
  void wait_for_start();
  fabric::QueuePairOptions queue_pair_options(std::size_t device);
  fabric::CompletionQueue& receive_completions_of_next(std::size_t device);
  fabric::ReceiveRequest receive_request(std::uint64_t word, std::uint64_t count) const;
  std::size_t server_device() const;
  fabric::WorkRequest make(fabric::Opcode opcode, std::uint64_t words);
  fabric::WorkRequest make_remote(fabric::Opcode opcode, std::uint64_t word, std::uint64_t words);

  Trial& trial_;
  std::size_t number_;  // 0: the server
  fabric::Host& host_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
  std::vector<std::unique_ptr<fabric::ProtectionDomain>>
      domains_;  // one per device, then additional ones
  std::vector<std::unique_ptr<fabric::MemoryRegion>> regions_;  // likewise
  std::vector<std::unique_ptr<fabric::CompletionQueue>> send_completions_;
  // One per device, or one per queue pair if they are separate.
  std::vector<std::unique_ptr<fabric::CompletionQueue>> receive_completions_;
  std::unique_ptr<fabric::SharedReceiveQueue> shared_receives_;  // null if there is none
  std::vector<std::unique_ptr<fabric::Listener>> listeners_;
  std::vector<std::unique_ptr<fabric::QueuePair>> queue_pairs_;
  std::uint64_t next_word_ = 0;
  std::uint64_t next_request_ = 0;
  std::uint64_t outstanding_ = 0;
  std::array<fabric::CompletionStatus, max_requests> statuses_{};
  fabric::WorkCompletion last_failure_;
  std::vector<std::uint64_t> completed_;
};

// One run of a litmus test. The parties live until it is destroyed, so nothing is torn down while
// others are active.
class Trial {
 public:
  Trial(sim::Simulation& simulation, const Stage& stage, const Program& server,
        const std::vector<Program>& clients);

  sim::Simulation& simulation() const { return simulation_; }
  // Tells another party a value outside of the network, in a register of the test.
  void tell(std::size_t index, std::uint64_t value);
  std::uint64_t told(std::size_t index);
  const Stage& stage() const { return stage_; }
  Party& server() { return parties_.front(); }
  Party& client(std::size_t index = 0) { return parties_.at(index + 1); }
  // A word of the server's memory after the run.
  std::uint64_t final_word(std::uint64_t word) { return server().final_word(word); }

  // The values that the programs observed: the registers of the test.
  std::array<std::uint64_t, 8> seen{};
  sim::RunResult result;  // valid after the run

 private:
  void add_party(std::size_t number, const std::string& name, const Program& program);

  sim::Simulation& simulation_;
  const Stage& stage_;
  std::vector<Party> parties_;
};

inline constexpr fabric::Access every_right{
    .local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true};

// Host names for the simulation's faults.
inline constexpr const char* server_name = "server";
inline constexpr const char* client_names[] = {"client", "second client", "third client"};

inline fabric::WorkRequest fenced(fabric::WorkRequest request) {
  request.fenced = true;
  return request;
}
inline fabric::WorkRequest inlined(fabric::WorkRequest request) {
  request.inlined = true;
  return request;
}
// Turns a WRITE or a SEND into one with immediate.
inline fabric::WorkRequest with_immediate(fabric::WorkRequest request, std::uint32_t immediate) {
  request.opcode = request.opcode == fabric::Opcode::send ? fabric::Opcode::send_with_immediate
                                                          : fabric::Opcode::write_with_immediate;
  request.immediate = immediate;
  return request;
}
// The local buffer of a request as a list of `count` equal segments.
template <std::uint32_t count>
std::array<fabric::LocalSegment, count> segments_of(const fabric::WorkRequest& request) {
  std::array<fabric::LocalSegment, count> segments;
  fabric::MemoryAddress address = request.local;
  for (fabric::LocalSegment& segment : segments) {
    segment = {.address = address, .length_bytes = request.length_bytes / count};
    address.offset += segment.length_bytes;
  }
  return segments;
}
inline fabric::WorkRequest with_segments(fabric::WorkRequest request,
                                         std::span<const fabric::LocalSegment> segments) {
  request.segments = segments;
  request.local = {};
  return request;
}
inline fabric::WorkRequest unsignalled(fabric::WorkRequest request) {
  request.signalled = false;
  return request;
}

}  // namespace falafel::litmus
