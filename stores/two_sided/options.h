// The questions that the paper leaves open, as options, and protections that it lacks, as
// safeguards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/fabric.h"

namespace falafel::two_sided {

// Protections that can be switched off one at a time.
struct Safeguards {
  // As published.

  // Each bucket has a mutex (3.1.4). Excludes: two workers change a list at once, so that a key is
  // in it twice or a pair is lost.
  bool bucket_mutexes = true;
  // Each pair has a reader-writer lock (3.1.4). Excludes: a GET copies a value that a SET is
  // changing.
  bool pair_locks = true;

  // Beyond the paper, which takes losses to be too rare to handle (2.3.2).

  // A client that gets no response in time sends its request again (UC, UD), and gives up in the
  // end. Excludes: a lost message, or a server that has stopped, makes a client wait forever.
  bool time_outs = false;
  // The server remembers the last request of each client, and its response. Excludes: a request
  // that was sent again is carried out twice.
  bool request_deduplication = false;
  // A client drops responses to earlier requests. Excludes: the second response to a request that
  // was sent again answers the next request.
  bool response_matching = false;

  static constexpr Safeguards published() { return {}; }
  static constexpr Safeguards hardened() {
    return {.time_outs = true, .request_deduplication = true, .response_matching = true};
  }
};

struct SafeguardDescription {
  std::string_view name;
  bool Safeguards::*enabled;
  bool is_published;
  // True if something can fail without it on RC and TCP, which neither lose nor repeat messages.
  bool matters_on_reliable_connections;
};
inline constexpr std::array<SafeguardDescription, 5> safeguard_descriptions{{
    {"bucket-mutexes", &Safeguards::bucket_mutexes, true, true},
    {"pair-locks", &Safeguards::pair_locks, true, true},
    {"time-outs", &Safeguards::time_outs, false, true},
    {"request-deduplication", &Safeguards::request_deduplication, false, false},
    {"response-matching", &Safeguards::response_matching, false, false},
}};

// How a thread waits for a completion (3.2.1.1).
enum class Waiting : std::uint8_t { polling, blocking };
// When a worker that has found a pair releases the bucket: after it has taken the pair's lock, or
// before. 3.1.4 does not say.
enum class Handover : std::uint8_t { pair_then_bucket, bucket_then_pair };
// When a worker posts the receive request again: after it has sent the response, or before.
enum class Repost : std::uint8_t { after_reply, before_reply };

// One set of options for both sides, which must agree on the transport.
struct Options {
  Safeguards safeguards = Safeguards::published();
  fabric::Transport transport = fabric::Transport::reliable_connection;
  Waiting waiting = Waiting::polling;

  // The server.
  Handover handover = Handover::pair_then_bucket;
  Repost repost = Repost::after_reply;
  std::uint32_t buckets = 1'024;
  std::uint64_t hash_seed = 0;
  std::uint64_t most_pairs = 1U << 24;  // a SET of one more is a STORE_ERROR
  std::uint16_t service = 9;
  std::uint32_t max_clients = 64;  // each has a worker

  // The client.
  std::uint64_t connect_timeout_ns = 20'000'000'000;
  // With Safeguards::time_outs: when a request is sent again, and when the client gives up.
  std::uint64_t repetition_interval_ns = 1'000'000;
  std::uint64_t server_timeout_ns = 20'000'000'000;
  // How long a client that closes waits for the response to its last request.
  std::uint64_t close_timeout_ns = 10'000'000;

  // Both: the time-out of one delivery attempt of RC, and the number of retries. TCP gives up when
  // RC does.
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;

  // Neither loses nor repeats messages, while the connection holds.
  bool is_reliable() const {
    return transport == fabric::Transport::reliable_connection ||
           transport == fabric::Transport::message_stream;
  }
  bool uses_datagrams() const { return transport == fabric::Transport::unreliable_datagram; }
};

// A message about the first option that is out of range for this device.
std::optional<std::string> find_invalid_option(const Options& options,
                                               const fabric::DeviceAttributes& device);

}  // namespace falafel::two_sided
