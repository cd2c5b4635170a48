// A client's connection with the tables of one node, its own node included: one request at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "fabric/fabric.h"
#include "stores/nessie/node.h"
#include "stores/nessie/options.h"
#include "stores/registered_memory.h"

namespace falafel::nessie {

// Registered memory of a client: the word that a READ of an ITE or a CAS returns, the mark that a
// WRITE sends, and the DTE that a READ returns.
struct Buffers {
  static constexpr std::uint64_t word_offset = 0;
  static constexpr std::uint64_t mark_offset = 16;
  static constexpr std::uint64_t entry_offset = 64;

  std::unique_ptr<fabric::ProtectionDomain> domain;
  stores::RegisteredMemory memory;

  static fabric::Result<Buffers> create(fabric::Host& host, std::uint64_t entry_bytes);
};

// The fate of a request, as far as the client knows it when it returns.
enum class Fate : std::uint8_t {
  done,
  not_sent,  // there is no connection with the node
  in_doubt   // the connection broke: it had an effect, has none, or will have one later
};

class Connection {
 public:
  // `buffers` outlives the connection, which connects at its first use.
  // `hello` is what the node is told, if it carries out requests.
  Connection(fabric::Host& host, Buffers& buffers, fabric::Address address, const Options& options,
             const std::optional<ClientHello>& hello);

  bool is_usable() const { return queue_pair_ != nullptr && !is_broken_; }
  // Connects anew. Returns whether the node answers by the deadline.
  bool connect(std::uint64_t deadline_ns);

  // Each waits. The results are in the buffers.
  Fate read_word(std::uint64_t offset);
  Fate compare_and_swap(std::uint64_t offset, std::uint64_t expected, std::uint64_t desired);
  // `watermark_offset` within the DTE; without one, the completion queue tells the end.
  Fate read_entry(std::uint64_t offset, std::uint32_t length_bytes,
                  std::optional<std::uint64_t> watermark_offset);
  Fate write_mark(std::uint64_t offset, std::uint64_t flags, std::uint64_t expiry_ns);
  // An encoded message, from there to this client's slot of the node's request region.
  Fate write_message(fabric::MemoryAddress local, std::uint64_t length_bytes,
                     std::uint64_t slot_bytes);

 private:
  bool try_to_connect(std::uint64_t deadline_ns);
  Fate execute(fabric::WorkRequest request, std::optional<std::uint64_t> watermark_offset);
  bool post(std::span<const fabric::WorkRequest> chain);
  bool wait_for_completion();
  bool wait_for_watermark(std::uint64_t offset);
  void poll();

  fabric::Host& host_;
  Buffers& buffers_;
  fabric::Address address_;
  Options options_;
  fabric::PrivateData own_hello_{};
  Hello hello_{};
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;  // null: not connected
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  bool is_broken_ = false;
};

}  // namespace falafel::nessie
