// Extensions of the replicated registers beyond the plain protocol, and their protections, which
// can be switched off one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace falafel::replicated {

struct Safeguards {
  // An operation waits for a majority of the servers. Excludes: a read and an earlier write meet
  // different servers.
  bool majorities = true;
  // A GET that does not find its word at a majority puts it there before it answers. Excludes: a
  // later GET does not meet that word any more.
  bool write_back = true;
  // A word that is written back refers to a copy that the reader has written to the same server.
  // Excludes: the writer has died before it wrote its container there.
  bool copies = true;
  // The container is written before the word. Excludes: a GET follows the word to nothing.
  bool container_first = true;
  // The writer's number is part of a stamp. Excludes: two writers choose the same stamp.
  bool unique_stamps = true;
  // A writer never uses a stamp again, even one whose SET has failed. Excludes: a word of the
  // failed SET, which a minority of the servers has, looks like one of the next SET.
  bool own_stamps = true;
  // A compare-and-swap that fails is repeated until the server has the word or a newer one.
  // Excludes: the word that was there is older than the one that the writer has to put there.
  bool repeated_swaps = true;
  // A client knows the incarnation of each server, and leaves a server with another one alone.
  // Excludes: a server that has lost its memory counts as one of a majority.
  bool incarnations = true;
  // A GET that can no longer fetch the container, because the servers that had it do not answer
  // any more, reads the words again. Excludes: a server dies between the two steps, and the GET
  // gives up although a majority has the value.
  bool repeated_reads = true;
  // DELETE does not say whether the key was present. Excludes: two DELETEs that find the same value
  // both say that they have removed it.
  bool blind_deletes = true;

  // Protections of guessed stamps (Options::guesses).

  // A GET marks the container of a word that is not settled before it returns its value. Excludes:
  // the writer withdraws the word, of which a GET has returned the value, and writes it again.
  bool reader_marks = true;
  // Before that, it reads the words again. Excludes: it has read one word before the guess, and
  // another one after it, and a write that ended before the guess was made is missing in both.
  bool read_before_mark = true;
  // After that, it reads the words once more. Excludes: the writer has looked for a mark before.
  bool read_after_mark = true;
  // A writer that was overtaken puts the newer word at a majority, and then looks for a mark before
  // it writes again. Excludes: as reader_marks.
  bool writer_checks = true;
};

struct SafeguardDescription {
  std::string_view name;
  bool Safeguards::*enabled;
};
inline constexpr std::array<SafeguardDescription, 14> safeguard_descriptions{{
    {"majorities", &Safeguards::majorities},
    {"write-back", &Safeguards::write_back},
    {"copies", &Safeguards::copies},
    {"container-first", &Safeguards::container_first},
    {"unique-stamps", &Safeguards::unique_stamps},
    {"own-stamps", &Safeguards::own_stamps},
    {"repeated-swaps", &Safeguards::repeated_swaps},
    {"incarnations", &Safeguards::incarnations},
    {"repeated-reads", &Safeguards::repeated_reads},
    {"blind-deletes", &Safeguards::blind_deletes},
    {"reader-marks", &Safeguards::reader_marks},
    {"read-before-mark", &Safeguards::read_before_mark},
    {"read-after-mark", &Safeguards::read_after_mark},
    {"writer-checks", &Safeguards::writer_checks},
}};

// All servers and clients have the same options.
struct Options {
  Safeguards safeguards{};

  // A SET of a key whose word the client knows guesses its stamp, and takes one round trip if
  // nobody has written the key since.
  bool guesses = true;
  // A GET of a key whose container the client knows fetches it together with the words.
  bool locations = true;

  std::uint64_t keys = 1'024;
  std::uint32_t writers = 64;  // clients that ever write; each has a number of its own
  std::uint32_t containers_per_writer = 64;
  std::uint32_t value_bytes = 24;  // the longest value

  std::uint16_t service = 11;
  std::uint64_t connect_timeout_ns = 20'000'000'000;
  // The time-out of one delivery attempt of the network, and the number of retries.
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;
  std::uint32_t connections_per_request = 3;  // that may break before the client gives up a server
};

}  // namespace falafel::replicated
