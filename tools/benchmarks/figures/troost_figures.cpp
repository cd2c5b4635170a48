#include "tools/benchmarks/figures/troost_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "tools/benchmarks/figures/two_sided_run.h"

namespace falafel::figures {
namespace {

using fabric::Transport;
using two_sided::Waiting;

// Rates in thousands of operations per second, times in microseconds.
struct Published {
  std::string_view name;
  Transport transport;
  double polling_slope;  // operations per second and client, up to 15 clients (4.1.1.1)
  double polling_median_of_5;
  std::uint32_t polling_peak_clients;
  double polling_peak;
  double polling_mean_of_32;
  double polling_median_of_60;
  double polling_tail_of_60;
};
// The peak of TCP. Beyond 32 clients, polling over the other transports is slower (4.1.1).
constexpr double tcp_peak_kops = 206.75;
constexpr std::array published{
    Published{"RC", Transport::reliable_connection, 16.726, 31, 32, 247.782, 115.1, 48, 7'852},
    Published{"UC", Transport::unreliable_connection, 21.462, 29, 33, 370.185, 49.2, 35, 1'296},
    Published{"UD", Transport::unreliable_datagram, 21.067, 29, 31, 357.019, 65.5, 54, 9'036},
    Published{"TCP", Transport::message_stream, 10.246, 62, 33, tcp_peak_kops, 138.0, 238, 368}};

struct PublishedBlocking {
  std::string_view name;
  Transport transport;
  double slope;  // up to 15 clients (4.1.2.1)
  double peak;
  std::array<double, 3> medians;  // of 5, 32 and 60 clients (table 4.2)
};
constexpr std::array published_blocking{
    PublishedBlocking{"RC", Transport::reliable_connection, 13.339, 239.6, {43, 111, 152}},
    PublishedBlocking{"UC", Transport::unreliable_connection, 15.770, 285.395, {41, 90, 158}},
    PublishedBlocking{"TCP", Transport::message_stream, 11.065, tcp_peak_kops, {64, 130, 245}}};

constexpr std::uint32_t few_clients = 5;
constexpr std::uint32_t most_linear_clients = 15;

class Prediction {
 public:
  // Fits the work besides the store: five clients have the paper's median, and each has the rate of
  // the paper's slope.
  Prediction(const sim::timing::Profile& profile, const Published& of_transport)
      : profile_(profile),
        load_{.transport = of_transport.transport, .waiting = usual_waiting(of_transport)} {
    const double store_us = run(few_clients).median_us;
    const double cycle_us = 1e3 / of_transport.polling_slope;
    load_.timed_work_ns = to_ns(of_transport.polling_median_of_5 - store_us);
    load_.think_ns = to_ns(cycle_us - of_transport.polling_median_of_5);
  }

  TwoSidedCost run(std::uint32_t clients) const { return run(clients, load_.waiting); }
  TwoSidedCost run(std::uint32_t clients, Waiting waiting) const {
    // With more threads than processors, threads take turns of milliseconds.
    constexpr std::uint32_t processors = 32;
    TwoSidedLoad load = load_;
    load.clients = clients;
    load.waiting = waiting;
    load.duration_ns =
        waiting == Waiting::polling && clients > processors ? 200'000'000 : 5'000'000;
    return measure_two_sided(profile_, load);
  }

  double kops(std::uint32_t clients) const { return run(clients).operations_per_second / 1e3; }

 private:
  // Reads and writes of the thesis' sockets block in either case.
  static Waiting usual_waiting(const Published& of_transport) {
    return of_transport.transport == Transport::message_stream ? Waiting::blocking
                                                               : Waiting::polling;
  }
  static std::uint64_t to_ns(double us) {
    return static_cast<std::uint64_t>(std::llround(us * 1e3));
  }

  const sim::timing::Profile& profile_;
  TwoSidedLoad load_;
};

void add_polling(std::vector<PaperComparison>& all, const Published& of_transport,
                 const Prediction& prediction) {
  const auto add = [&](std::string_view figure, std::string_view quantity, double paper,
                       double predicted) {
    all.push_back({std::string(figure), fmt::format("{}, {}", of_transport.name, quantity), paper,
                   predicted});
  };
  add("4.1", "15 clients, kops/s", of_transport.polling_slope * most_linear_clients,
      prediction.kops(most_linear_clients));
  add("4.1", fmt::format("{} clients, kops/s", of_transport.polling_peak_clients),
      of_transport.polling_peak, prediction.kops(of_transport.polling_peak_clients));
  add("4.3", "32 clients, mean, us", of_transport.polling_mean_of_32, prediction.run(32).mean_us);
  const TwoSidedCost of_60 = prediction.run(60);
  if (of_transport.transport != Transport::message_stream) {
    add("4.1", "60 clients, times the peak, at most", tcp_peak_kops / of_transport.polling_peak,
        of_60.operations_per_second / 1e3 / prediction.kops(of_transport.polling_peak_clients));
  }
  add("table 4.1", "60 clients, median, us", of_transport.polling_median_of_60, of_60.median_us);
  add("table 4.1", "60 clients, 99 %, us", of_transport.polling_tail_of_60, of_60.tail_us);
}

void add_blocking(std::vector<PaperComparison>& all, const PublishedBlocking& of_transport,
                  const Prediction& prediction) {
  const auto add = [&](std::string_view figure, std::string_view quantity, double paper,
                       double predicted) {
    all.push_back({std::string(figure), fmt::format("{} blocking, {}", of_transport.name, quantity),
                   paper, predicted});
  };
  const auto run = [&](std::uint32_t clients) {
    return prediction.run(clients, Waiting::blocking);
  };
  constexpr std::array<std::uint32_t, 3> clients{5, 32, 60};
  std::array<TwoSidedCost, 3> costs;
  std::ranges::transform(clients, costs.begin(), run);
  add("4.2", "15 clients, kops/s", of_transport.slope * most_linear_clients,
      run(most_linear_clients).operations_per_second / 1e3);
  add("4.2", "32 clients, kops/s", of_transport.peak, costs[1].operations_per_second / 1e3);
  for (std::size_t index = 0; index < clients.size(); ++index) {
    add("table 4.2", fmt::format("{} clients, median, us", clients[index]),
        of_transport.medians[index], costs[index].median_us);
  }
}

}  // namespace

std::vector<PaperComparison> compare_with_troost(const sim::timing::Profile& profile) {
  std::vector<PaperComparison> all;
  for (const Published& of_transport : published) {
    add_polling(all, of_transport, Prediction(profile, of_transport));
  }
  for (const PublishedBlocking& of_transport : published_blocking) {
    const auto* const polling =
        std::ranges::find(published, of_transport.transport, &Published::transport);
    add_blocking(all, of_transport, Prediction(profile, *polling));
  }
  return all;
}

}  // namespace falafel::figures
