// The costs of a card and its processor. docs/performance.md documents the values and the files
// that contain them, one per card.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "fabric/sim/timing/conditions.h"

namespace falafel::sim::timing {

// Times are in picoseconds, because small requests occupy a card for a few nanoseconds.
struct Profile {
  std::string name;
  std::string title;

  // The requester's side of a card.
  std::uint64_t doorbell_ps = 0;            // from posting until the card begins
  std::uint64_t requester_ps = 0;           // from then until the request leaves the card
  std::uint64_t requester_interval_ps = 0;  // between two requests
  std::uint64_t completion_ps = 0;          // from the answer until the processor can poll it

  // The link, one way; and the bus between card and memory, each direction by itself.
  std::uint64_t wire_ps = 0;  // cables and switch
  std::uint64_t link_ps_per_byte = 0;
  std::uint64_t header_bytes = 0;  // of each packet
  std::uint64_t bus_ps_per_byte = 0;

  // The responder's side: from the arrival of a request until data or an acknowledgement is ready.
  std::uint64_t read_ps = 0;
  std::uint64_t write_ps = 0;
  std::uint64_t atomic_ps = 0;
  std::uint64_t send_ps = 0;
  std::uint64_t acknowledge_ps_per_byte = 0;  // WRITE and SEND, within the last packet
  std::uint64_t placement_ps = 0;             // WRITE and SEND: until memory has the data
  std::uint64_t read_gap_ps = 0;              // between two packets of one READ
  // How long a request occupies the pipeline, which serves one after the other.
  std::uint64_t read_interval_ps = 0;
  std::uint64_t read_interval_ps_per_byte = 0;
  std::uint64_t write_interval_ps = 0;
  std::uint64_t atomic_interval_ps = 0;
  std::uint64_t send_interval_ps = 0;
  std::uint64_t word_interval_ps = 0;  // between two atomics on one word
  std::uint64_t retry_ps = 0;          // of a SEND that finds no receive request

  std::uint64_t cached_queue_pairs = 0;  // whose state the card holds; 0: of all
  std::uint64_t queue_pair_miss_ps = 0;  // to fetch the state of another one
  std::uint64_t handshake_ps = 0;        // one way

  // The processor.
  std::uint64_t processors = 1;  // hardware threads of a machine
  std::uint64_t post_ps = 0;     // to post a request
  std::uint64_t poll_ps = 0;     // from a completion until the program goes on
  std::uint64_t hash_ps = 0;
  std::uint64_t hash_ps_per_byte = 0;
  std::uint64_t checksum_ps = 0;
  std::uint64_t checksum_ps_per_byte = 0;
  // CRCs of 64 bits. A file has both values or none; without them, they cost what checksums do.
  bool has_crc64 = false;
  std::uint64_t crc64_check_ps_per_byte = 0;
  std::uint64_t crc64_update_ps_per_byte = 0;
  std::uint64_t copy_ps = 0;
  std::uint64_t copy_ps_per_byte = 0;
  std::uint64_t operation_ps = 0;   // all else that the client does for an operation
  std::uint64_t round_trip_ps = 0;  // and for a round trip
  std::uint64_t lock_ps = 0;        // of a queue: for each chain posted and each poll

  // Messages on pipelines of their own, one for each direction. A file has both values or none;
  // without them, a SEND occupies the responder's pipeline for send_interval.
  bool has_message_pipelines = false;
  std::uint64_t message_send_interval_ps = 0;     // at the card that sends
  std::uint64_t message_receive_interval_ps = 0;  // at the card that receives

  // Message streams: what the kernels cost. A file has all of these values or none; without them,
  // devices carry no message streams.
  bool has_message_streams = false;
  std::uint64_t stream_send_ps = 0;           // the processor, for each message
  std::uint64_t stream_receive_ps = 0;        // the same
  std::uint64_t stream_copy_ps_per_byte = 0;  // the processor, on each side
  // From the arrival of a message in memory until the program can receive it: interrupt, scheduler.
  std::uint64_t stream_wake_ps = 0;

  Conditions conditions{};  // of a run; not in the file

  friend bool operator==(const Profile&, const Profile&) = default;
};

// Reads a profile from the text of its file. The error names the value and says what to do.
tl::expected<Profile, std::string> parse_profile(std::string_view text);

// The profiles that belong to the program, by name; the error lists the names.
tl::expected<Profile, std::string> find_profile(std::string_view name);
std::vector<std::string_view> profile_names();

// The same, or from a file, if the name has a slash or ends in .json.
tl::expected<Profile, std::string> find_or_read_profile(const std::string& name);

// The text of a profile's file. `source_of` says where the value of that name comes from.
std::string to_text(const Profile& profile,
                    const std::function<std::string(std::string_view name)>& source_of);

// One value of a profile as its file has it, with where it comes from.
struct ProfileValue {
  std::string name;
  double value = 0;
  std::string source;
};
tl::expected<std::vector<ProfileValue>, std::string> profile_values(std::string_view text);

// The texts of the profiles that belong to the program.
struct ProfileText {
  std::string_view name;
  std::string_view text;
};
std::span<const ProfileText> profile_texts();

}  // namespace falafel::sim::timing
