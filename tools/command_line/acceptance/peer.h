// The side of an acceptance run that tries: a session with the side that serves, connections under
// test, and short names for requests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/time_units.h"
#include "tools/command_line/acceptance/part_report.h"
#include "tools/command_line/acceptance/protocol.h"

namespace falafel::acceptance {

// Longer than a slow emulated network needs for anything that succeeds.
inline constexpr std::uint64_t patience_ns = 60 * fabric::second_ns;

// Places for what is tried: of the other side's memory, which requests change, and of this side's,
// where READs bring it back.
inline constexpr std::uint64_t remote_place = 4'096;
inline constexpr std::uint64_t returned = 49'152;

// Thrown by a try that does not hold: the verdict of its row, and what the row shows as observed.
struct Ending {
  Verdict verdict;
  std::string shown;
};
// The observation is not what the rules demand.
struct Mismatch : Ending {
  explicit Mismatch(std::string observed) : Ending{Verdict::violated, std::move(observed)} {}
};
// Something that no rule is about went wrong: no connection, no answer.
struct NotDone : Ending {
  explicit NotDone(std::string reason) : Ending{Verdict::not_done, std::move(reason)} {}
};
// The device lacks what this is about.
struct NotTried : Ending {
  explicit NotTried(std::string reason) : Ending{Verdict::not_tried, std::move(reason)} {}
};

template <typename Value>
Value must(fabric::Result<Value> result) {
  if (!result)
    throw NotDone{std::string(to_string(result.error().code)) + ": " + result.error().detail};
  if constexpr (!std::is_void_v<Value>) return std::move(*result);
}

class Peer;

// A queue pair under test. Its buffer is the memory of this side, which all connections of a
// session share.
class Link {
 public:
  Link(Peer& peer, const fabric::QueuePairOptions& wanted);

  fabric::WorkRequest read(std::uint64_t local, std::uint64_t remote, std::uint32_t length) const;
  fabric::WorkRequest write(std::uint64_t local, std::uint64_t remote, std::uint32_t length) const;
  fabric::WorkRequest swap(std::uint64_t local, std::uint64_t remote, std::uint64_t expected,
                           std::uint64_t desired) const;
  fabric::WorkRequest add(std::uint64_t local, std::uint64_t remote, std::uint64_t addend) const;
  fabric::WorkRequest send(std::uint64_t local, std::uint32_t length) const;

  void post(std::span<const fabric::WorkRequest> chain);
  void post(std::initializer_list<fabric::WorkRequest> chain) {
    post(std::span(chain.begin(), chain.size()));
  }
  fabric::WorkCompletion next();           // the next completion of the send queue
  fabric::WorkCompletion next_received();  // and of the receive queue
  // Posts the chain, and waits for as many completions as it has signalled requests.
  void succeed(std::span<const fabric::WorkRequest> chain);
  void succeed(std::initializer_list<fabric::WorkRequest> chain) {
    succeed(std::span(chain.begin(), chain.size()));
  }
  fabric::CompletionStatus status_of(const fabric::WorkRequest& request);

  std::uint32_t number() const { return number_; }
  std::uint32_t remote_key() const { return remote_key_; }
  fabric::QueuePair& queue_pair() const { return *queue_pair_; }
  fabric::CompletionQueue& sends() const { return *sends_; }

 private:
  fabric::WorkCompletion next_of(fabric::CompletionQueue& queue) const;
  fabric::WorkRequest request(fabric::Opcode opcode, std::uint64_t local, std::uint64_t remote,
                              std::uint32_t length) const;

  Peer& peer_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  std::uint32_t remote_key_ = 0;
  std::uint32_t number_ = 0;
};

class Peer {
 public:
  // Connects. Waits. Throws NotDone.
  Peer(fabric::Host& host, const std::string& server);

  // Waits for the answer. Throws NotDone if it is a refusal.
  Reply ask(const Command& command);
  void begin_asking(const Command& command);  // the other side is then busy with it
  Reply end_asking();
  // Stops an observer of the other side that was begun, and returns what it counted.
  Reply stop_observer(Link& link);

  std::unique_ptr<Link> connect(const fabric::QueuePairOptions& wanted = {});

  fabric::Host& host() const { return host_; }
  fabric::Device& device() const { return host_.device(0); }
  fabric::MemoryBlock& memory() const { return *memory_; }
  fabric::ProtectionDomain& domain() const { return *domain_; }
  std::uint32_t local_key() const { return region_->local_key(); }
  std::uint64_t session() const { return session_; }
  const std::string& server() const { return server_; }
  const Greeting& greeting() const { return greeting_; }
  const std::string& version() const { return version_; }
  const std::string& machine() const { return machine_; }  // lines about the other side's

 private:
  void connect_control();

  fabric::Host& host_;
  std::string server_;
  std::uint64_t session_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::shared_ptr<fabric::MemoryBlock> memory_;  // of requests under test
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::shared_ptr<fabric::MemoryBlock> messages_;
  std::unique_ptr<fabric::MemoryRegion> message_region_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::unique_ptr<fabric::QueuePair> control_;
  Greeting greeting_;
  std::string version_;
  std::string machine_;
};

fabric::WorkRequest fenced(fabric::WorkRequest request);
fabric::WorkRequest unsignalled(fabric::WorkRequest request);

// Bytes that are not zero and differ from those of other salts.
std::vector<std::byte> pattern(std::size_t length_bytes, std::uint8_t salt);

}  // namespace falafel::acceptance
