// The litmus part: small programs (docs/litmus.md), repeated on the device. An outcome that the
// rules forbid must never occur. One that they allow is counted, because it tells how the device
// behaves.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/command_line/acceptance/part_report.h"
#include "tools/command_line/acceptance/peer.h"

namespace falafel::acceptance {

// How long a shape repeats: until its time is over or it has repeated often enough.
struct Budget {
  std::uint64_t duration_ns = 0;
  std::uint64_t most_repetitions = 0;
};

// An outcome, how often it occurred, and whether the rules forbid it.
struct Outcome {
  std::string name;
  std::uint64_t count = 0;
  bool is_forbidden = false;
};

struct Observed {
  std::uint64_t repetitions = 0;
  std::vector<Outcome> outcomes;
};

struct Shape {
  std::string name;  // the program, as docs/litmus.md writes it
  std::string source;
  std::string expected;
  std::function<Observed(Peer&, const Budget&)> run;
};

std::vector<Shape> shapes_for_processor();   // the other side's processor observes
std::vector<Shape> shapes_for_reader();      // READs on another queue pair observe
std::vector<Shape> shapes_for_one_client();  // the results of its own requests

// Each shape has a session of its own.
Row run_shape(fabric::Host& host, const std::string& server, const Shape& shape,
              const Budget& budget);
// All shapes, then generated programs for as long as all of them together. `most_repetitions`
// limits each shape.
PartReport run_litmus(fabric::Host& host, const std::string& server, const Budget& budget);

// Places in the memory of both sides. The observers' stop word is at 0.
inline constexpr std::uint64_t x = 4'096;
inline constexpr std::uint64_t y = 8'192;
inline constexpr std::uint64_t wide_words = 8;  // of a WRITE that is longer than a word

// Makes the requests with this count, whose data is in the slot of this side's memory.
using MakeChain =
    std::function<std::vector<fabric::WorkRequest>(std::uint32_t count, std::uint64_t slot)>;
// Posts chains with the counts 1, 2, ..., several at a time, and returns how many. Only the last
// request of each is signalled.
std::uint32_t stream(Peer& peer, Link& link, const Budget& budget, const MakeChain& make_chain);

// Stores the stamp to consecutive words of this side's memory.
void store_stamp(Peer& peer, std::uint64_t slot, std::uint32_t count, std::uint64_t words = 1);

// Runs both on fibers. `second` ends when `first` is over. What either throws is thrown here.
void run_together(fabric::Host& host, const std::function<void()>& first,
                  const std::function<void(const bool& is_over)>& second);

}  // namespace falafel::acceptance
