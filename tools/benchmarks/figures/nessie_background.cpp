// Figure 4 of Nessie's paper: threads of others compete for the processors of clients and workers.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "tools/benchmarks/figures/nessie_figures.h"
#include "tools/benchmarks/figures/nessie_load.h"

namespace falafel::figures {

std::vector<Figure> predict_nessie_background(const sim::timing::Profile& card) {
  using nessie::Architecture;
  Figure figure{.number = "4",
                .title = "Throughput beside processes of others, 90 % GETs, 16 KiB",
                .x = {.label = "background processes on each machine"},
                .y = {.label = "thousand operations per second and machine"}};
  constexpr std::array<std::uint32_t, 5> background{0, 3, 6, 12, 24};
  for (const Architecture architecture :
       {Architecture::client_driven, Architecture::server_driven, Architecture::hybrid}) {
    Series series{.name = std::string(nessie_short_name(architecture))};
    for (const std::uint32_t threads : background) {
      const NessieLoad load{
          .architecture = architecture, .gets_percent = 90, .background_threads = threads};
      series.points.push_back(
          {static_cast<double>(threads),
           measure_nessie(card, load).operations_per_second / 1e3 / nessie_machines});
    }
    figure.series.push_back(std::move(series));
  }
  // The text has no other number.
  figure.comparisons = {{"no background processes, CD, times SD", 1,
                         figure.series[0].points.front().y / figure.series[1].points.front().y}};
  return {std::move(figure)};
}

}  // namespace falafel::figures
