// The variants of the program, as options, and protections that it lacks, as safeguards.
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
  // Safeguards of the program.

  // SET and DELETE take the mutex of the bucket (3.1.4). Excludes: two workers change a list at
  // once, so that a key is in it twice or a pair is lost.
  bool bucket_mutexes = true;
  // Each pair has a reader-writer lock (3.1.4). Excludes: a GET copies a value that a SET is
  // changing.
  bool pair_locks = true;

  // Safeguards beyond the program.

  // GET takes the mutex of the bucket, too. Excludes: a DELETE frees a pair while a GET walks over
  // it.
  bool lookup_mutexes = false;
  // A worker that has found or inserted a pair takes its lock before it releases the bucket.
  // Excludes: the pair is freed in between, and used for another key; a GET returns the value of a
  // pair that has none yet.
  bool pair_before_bucket = false;
  // A worker waits for a pair that others use. Excludes: an operation answers that a key is absent
  // because it is busy.
  bool waiting_locks = false;
  // Keys are compared as a whole. Excludes: an operation takes a longer key that begins with its
  // own.
  bool whole_keys = false;
  // A client gives up in the end. On UC and UD, it repeats its request before, also if it blocks.
  // Excludes: a lost message, or a server that has stopped, makes a client wait forever.
  bool time_outs = false;
  // The server remembers the last request of each client, and its response. Excludes: a request
  // that was sent again is carried out twice.
  bool request_deduplication = false;
  // A client drops responses to earlier requests. Excludes: the second response to a request that
  // was sent again answers the next request.
  bool response_matching = false;

  static constexpr Safeguards published() { return {}; }
  static constexpr Safeguards hardened() {
    return {.lookup_mutexes = true,
            .pair_before_bucket = true,
            .waiting_locks = true,
            .whole_keys = true,
            .time_outs = true,
            .request_deduplication = true,
            .response_matching = true};
  }
};

struct SafeguardDescription {
  std::string_view name;
  bool Safeguards::*enabled;
  bool is_published;
  // True if something can fail without it on RC and TCP, which neither lose nor repeat messages.
  bool matters_on_reliable_connections;
};
inline constexpr std::array<SafeguardDescription, 9> safeguard_descriptions{{
    {"bucket-mutexes", &Safeguards::bucket_mutexes, true, true},
    {"pair-locks", &Safeguards::pair_locks, true, true},
    {"lookup-mutexes", &Safeguards::lookup_mutexes, false, true},
    {"pair-before-bucket", &Safeguards::pair_before_bucket, false, true},
    {"waiting-locks", &Safeguards::waiting_locks, false, true},
    {"whole-keys", &Safeguards::whole_keys, false, true},
    {"time-outs", &Safeguards::time_outs, false, true},
    {"request-deduplication", &Safeguards::request_deduplication, false, false},
    {"response-matching", &Safeguards::response_matching, false, false},
}};

// The way in which a thread waits for a completion (3.2.1.1).
enum class Waiting : std::uint8_t {
  polling,
  blocking,  // until there is a completion
  // As the program blocks: until an event of the completion queue. The thread then arms the queue
  // and takes one completion. One that arrives between an event and the next arming has no event.
  // The difference matters where workers share a queue, on UD; elsewhere this is as `blocking`.
  blocking_on_events,
};
// The time at which a worker posts the receive request again: after it has sent the response, or
// before.
enum class Repost : std::uint8_t { after_reply, before_reply };

// One set of options for both sides, which must agree on the transport.
struct Options {
  Safeguards safeguards = Safeguards::published();
  fabric::Transport transport = fabric::Transport::reliable_connection;
  Waiting waiting = Waiting::polling;

  // The server.
  // The receive requests that are posted in advance, of each worker, or on UD of all workers
  // together. The program has 5, and 1,024 on UD.
  std::uint32_t posted_receives = 5;
  Repost repost = Repost::after_reply;
  std::uint32_t buckets = 1'024;
  std::uint64_t most_pairs = 1U << 24;  // a SET of one more is a STORE_ERROR
  std::uint16_t service = 9;
  std::uint32_t max_clients = 64;  // each has a worker

  // The client.
  std::uint64_t connect_timeout_ns = 20'000'000'000;
  // The time after which a client repeats a request, if it does (repeats_requests()).
  std::uint64_t repetition_interval_ns = 100'000'000;
  // With Safeguards::time_outs: when the client gives up.
  std::uint64_t server_timeout_ns = 20'000'000'000;
  // A client that closes waits this long for the response to its last request.
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
  // On UC and UD, the program sends a request again if it polls in vain, but not if it blocks.
  bool repeats_requests() const {
    return !is_reliable() && (safeguards.time_outs || waiting == Waiting::polling);
  }
  bool uses_datagrams() const { return transport == fabric::Transport::unreliable_datagram; }
};

// The options of the program on this transport.
Options published_options(fabric::Transport transport);

// A message about the first option that is out of range for this device.
std::optional<std::string> find_invalid_option(const Options& options,
                                               const fabric::DeviceAttributes& device);

}  // namespace falafel::two_sided
