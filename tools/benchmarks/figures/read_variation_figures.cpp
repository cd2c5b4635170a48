// Figures 5.1 and 5.2 of the thesis: READs of 64 bytes, one after another, and what precedes each.
//
// Nothing that has completed influences a READ in the model, so each panel is one constant. A cause
// that was tried: in some states, the cards need one round trip over a bus more or less than in the
// state of section 4.1, for something that they cache. A READ takes one such round trip longer than
// a WRITE, so section 4.1 has its time. It does not say which state follows which requests.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tools/benchmarks/figures/predictions.h"
#include "tools/benchmarks/figures/read_variation.h"

namespace falafel::figures {
namespace {

using sim::timing::Profile;

constexpr std::uint32_t mebi = 1 << 20;

// Around which latency the thesis' points lie.
struct Band {
  std::string quantity;
  double latency_us;
  // More than in the state of section 4.1, which come closest to the band. Negative: fewer.
  int bus_round_trips = 0;
};

struct Panel {
  std::string number;
  std::string title;
  Flush flush;
  std::uint32_t reads;  // fewer than the thesis' 10,000 where the simulator has many packets
  std::vector<Band> bands;
};

const std::array<Panel, 4>& panels() {
  static const std::array<Panel, 4> all{
      Panel{"5.1a", "READs of 64 bytes", {}, 10'000, {{"READs alone, us", 2.9}}},
      Panel{"5.1b",
            "READs of 64 bytes, each after messages and a memset of 64 bytes",
            {.memset_bytes = 64},
            10'000,
            {{"READs after messages, us", 2.3}}},
      Panel{"5.2a",
            "READs of 64 bytes, each after a flush of 3 MiB",
            {.transfer_bytes = 3 * mebi, .memset_bytes = 3 * mebi},
            100,
            {{"READs after 3 MiB, lower band, us", 2.0, -1},
             {"READs after 3 MiB, upper band, us", 3.0}}},
      Panel{"5.2b",
            "READs of 64 bytes, each after a flush of 7 MiB",
            {.transfer_bytes = 7 * mebi, .memset_bytes = 7 * mebi},
            100,
            {{"READs after 7 MiB, lower main band, us", 3.5},
             {"READs after 7 MiB, upper main band, us", 4.0, 1},
             {"READs after 7 MiB, lowest band, us", 3.0},
             {"READs after 7 MiB, highest band, us", 5.1, 2}}}};
  return all;
}

double median_of_reads(std::vector<double> latencies_ns) {
  const auto middle = latencies_ns.begin() + static_cast<std::ptrdiff_t>(latencies_ns.size() / 2);
  std::ranges::nth_element(latencies_ns, middle);
  return *middle;
}

// A hundred READs show the bands.
std::vector<Point> read_points(const std::vector<double>& latencies_ns) {
  const std::size_t every = latencies_ns.size() / 100;
  std::vector<Point> points;
  for (std::size_t read = 0; read < latencies_ns.size(); read += every) {
    points.push_back({static_cast<double>(read), latencies_ns[read] / 1e3});
  }
  return points;
}

// The difference of a READ and a WRITE at the responder, in the direction of fewer or more of them.
Profile with_bus_round_trips(Profile profile, int round_trips) {
  const std::uint64_t round_trip_ps = profile.read_ps - profile.write_ps;
  profile.read_ps += static_cast<std::uint64_t>(round_trips) * round_trip_ps;  // wraps around
  return profile;
}

std::string in_words(int bus_round_trips) {
  switch (bus_round_trips) {
    case -1: return "one round trip of the bus less";
    case 1: return "one round trip of the bus more";
    default: return std::to_string(bus_round_trips) + " round trips of the bus more";
  }
}

void add_other_state(Figure& figure, const Profile& profile, const Panel& panel, const Band& band) {
  const Profile other = with_bus_round_trips(profile, band.bus_round_trips);
  const double predicted_us = median_of_reads(measure_reads(other, panel.flush, panel.reads)) / 1e3;
  const double last = figure.series.front().points.back().x;
  figure.series.push_back({.name = in_words(band.bus_round_trips),
                           .points = {{0, predicted_us}, {last, predicted_us}}});
  figure.comparisons.push_back(
      {band.quantity + ", " + in_words(band.bus_round_trips), band.latency_us, predicted_us});
}

Figure predict_panel(const Profile& profile, const Panel& panel) {
  const std::vector<double> latencies_ns = measure_reads(profile, panel.flush, panel.reads);
  const double predicted_us = median_of_reads(latencies_ns) / 1e3;
  Figure figure{.number = panel.number,
                .title = panel.title,
                .x = {.label = "READ"},
                .y = {.label = "latency in microseconds"},
                .series = {{.name = "READ", .points = read_points(latencies_ns)}}};
  const double last = figure.series.front().points.back().x;
  for (const Band& band : panel.bands) {
    figure.series.push_back({.name = "around",
                             .points = {{0, band.latency_us}, {last, band.latency_us}},
                             .measured = true});
    figure.comparisons.push_back({band.quantity, band.latency_us, predicted_us});
    if (band.bus_round_trips != 0) add_other_state(figure, profile, panel, band);
  }
  return figure;
}

}  // namespace

std::vector<Figure> predict_read_variation(const Profile& profile) {
  std::vector<Figure> figures;
  for (const Panel& panel : panels()) figures.push_back(predict_panel(profile, panel));
  return figures;
}

}  // namespace falafel::figures
