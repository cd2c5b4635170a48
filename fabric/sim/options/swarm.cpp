// Swarm testing: each run enables some features of the simulator, with rates drawn on a logarithmic
// scale. Features that would hide each other's effects therefore also occur alone and in small
// groups.
#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>

#include "fabric/random.h"
#include "fabric/sim/options/options.h"

namespace falafel::sim {

namespace {

// Strategies use the same seeds; these constants make the numbers independent of theirs.
constexpr std::uint64_t swarm_stream = 0x737761726d;
// For options that were added later, so that they change no other option of a seed.
constexpr std::uint64_t later_stream = 0x6c61746572;
constexpr std::uint64_t landing_stream = 0x6c616e64696e67;
constexpr std::uint64_t buffers_stream = 0x62756666657273;
constexpr std::uint64_t kernel_stream = 0x6b65726e656c;
constexpr std::uint64_t bounds_stream = 0x626f756e6473;
constexpr std::uint64_t fields_stream = 0x6669656c6473;

class SwarmDraw {
 public:
  SwarmDraw(std::uint64_t seed, std::uint64_t stream) : random_(seed ^ stream) {}

  bool one_in(std::uint64_t count) { return random_.below(count) == 0; }

  std::uint64_t between(std::uint64_t first, std::uint64_t last) {
    return first + random_.below(last - first + 1);
  }

  std::uint64_t one_of(std::initializer_list<std::uint64_t> values) {
    return values.begin()[random_.below(values.size())];
  }

  // Draws a power of two, each equally likely, and then a number up to the next one. Functions of
  // <cmath> could differ between machines.
  std::uint64_t logarithmic(std::uint64_t first, std::uint64_t last) {
    const auto bits =
        static_cast<unsigned>(between(std::bit_width(first) - 1U, std::bit_width(last) - 1U));
    const std::uint64_t power = std::uint64_t{1} << bits;
    return between(std::max(first, power), std::min(last, 2 * power - 1));
  }

 private:
  fabric::RandomGenerator random_;
};

// As often as the comparison in docs/fuzzing.md suggests: POS needs the fewest schedules, a random
// walk the least time, and PCT finds rare failures early. URW takes two runs for each schedule and
// finds nothing sooner for that. The first half was `pct` and the second one `random` before there
// were others, so most seeds still have the strategy that they had.
constexpr std::array<StrategyKind, 8> drawn_strategies{
    StrategyKind::pct, StrategyKind::pct,    StrategyKind::pos,    StrategyKind::pos,
    StrategyKind::pos, StrategyKind::random, StrategyKind::random, StrategyKind::random};

void draw_scheduling(SwarmDraw& draw, SimulationOptions& options) {
  options.strategy = drawn_strategies.at(draw.between(0, drawn_strategies.size() - 1));
  options.pct_depth = draw.between(2, 6);
  options.pct_steps = draw.logarithmic(100, 10'000);
  options.step_duration_ns = draw.one_of({10, 100, 1'000});
}

struct FaultDraw {
  SwarmDraw& draw;
  SimulationOptions& options;

  void operator()(FaultKind kind, bool is_in, std::uint64_t first, std::uint64_t last) const {
    const std::uint64_t rate = draw.logarithmic(first, last);
    options.set_fault_rate(kind, is_in ? rate : 0);
  }
};

// A run in which hosts keep dying does little else, so these two kinds are usually disabled.
void draw_faults(SwarmDraw& draw, SimulationOptions& options) {
  const FaultDraw strikes{draw, options};
  strikes(FaultKind::client_crash, draw.one_in(4), 200, 2'000);
  strikes(FaultKind::client_pause, draw.one_in(2), 20, 2'000);
  strikes(FaultKind::queue_pair_error, draw.one_in(2), 20, 2'000);
  strikes(FaultKind::unreliable_loss, draw.one_in(2), 2, 50);
  strikes(FaultKind::datagram_reordering, draw.one_in(2), 2, 50);
  strikes(FaultKind::message_delay, draw.one_in(2), 20, 2'000);
  strikes(FaultKind::late_packets, draw.one_in(2), 20, 2'000);
  strikes(FaultKind::server_stall, draw.one_in(2), 20, 2'000);
  strikes(FaultKind::server_restart, draw.one_in(4), 200, 2'000);
  strikes(FaultKind::latency_spike, draw.one_in(2), 20, 2'000);
  options.longest_stall_ns = draw.one_of({1'000'000, 100'000'000, 10'000'000'000});
}

// Neither does a run in which hosts stop forever.
void draw_later_faults(SwarmDraw& draw, SimulationOptions& options) {
  const FaultDraw strikes{draw, options};
  strikes(FaultKind::client_stop, draw.one_in(4), 200, 2'000);
  strikes(FaultKind::server_stop, draw.one_in(4), 200, 2'000);
  strikes(FaultKind::registration_failure, draw.one_in(4), 2, 200);
}

void draw_slow_landing(SwarmDraw& draw, SimulationOptions& options) {
  const FaultDraw strikes{draw, options};
  strikes(FaultKind::slow_landing, draw.one_in(4), 20, 2'000);
}

void draw_later_features(SwarmDraw& draw, SimulationOptions& options) {
  options.late_visibility = draw.one_in(4);
  options.failure_before_landing = draw.one_in(2);
}

// Draws nothing weaker than the contract, so never byte granularity.
void draw_device(SwarmDraw& draw, SimulationOptions& options) {
  options.granularity = draw.one_in(4) ? Granularity::packet : Granularity::word;
  options.address_order = draw.one_in(4);
  options.failing_cas_writes_back = draw.one_in(4);
  options.processor_preemption = draw.one_in(2);
  options.atomic_capability =
      draw.one_in(4) ? fabric::AtomicCapability::global : fabric::AtomicCapability::device;
  options.mtu_bytes = draw.one_of({256, 1024, 4096});
  options.max_inline_bytes = draw.one_of({0, 64, 256});
  options.max_outstanding_reads_and_atomics = draw.one_of({1, 2, 4, 16});
}

}  // namespace

SimulationOptions draw_swarm_options(std::uint64_t seed) {
  SwarmDraw draw(seed, swarm_stream);
  SimulationOptions options;
  draw_scheduling(draw, options);
  draw_faults(draw, options);
  draw_device(draw, options);
  SwarmDraw later(seed, later_stream);
  draw_later_faults(later, options);
  draw_later_features(later, options);
  SwarmDraw landing(seed, landing_stream);
  draw_slow_landing(landing, options);
  SwarmDraw buffers(seed, buffers_stream);
  options.store_buffers = buffers.one_in(4);
  SwarmDraw kernel(seed, kernel_stream);
  options.stream_buffer_bytes = kernel.one_of({0, 512, 65'536});
  SwarmDraw bounds(seed, bounds_stream);
  options.bounds_per_packet = bounds.one_in(4);
  SwarmDraw fields(seed, fields_stream);
  options.undefined_failure_fields = fields.one_in(4);
  return options;
}

}  // namespace falafel::sim
