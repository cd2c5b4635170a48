// Figures 5.5 to 5.9 and 5.13 to 5.17 of the thesis: throughput and latency of the store with 1 to
// 40 clients, by their number, by the share of GETs, and by the load of the table. Figures that
// show the same runs share their measurements.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <string>

#include "tools/benchmarks/figures/predictions.h"
#include "tools/benchmarks/figures/throughput.h"

namespace falafel::figures {
namespace {

using sim::timing::Profile;

// One measurement.
struct Setting {
  std::uint32_t clients = 1;
  std::uint32_t machines = 5;
  std::uint32_t get_percent = 100;
  std::uint32_t load_permille = 100;
  bool hardened = false;

  friend auto operator<=>(const Setting&, const Setting&) = default;
};

constexpr std::uint32_t only_sets = 0;
constexpr std::uint32_t only_gets = 100;
constexpr std::array<std::uint32_t, 5> mixes{0, 25, 50, 75, 100};
constexpr std::array<std::uint32_t, 11> client_counts{1, 5, 10, 15, 20, 25, 28, 31, 34, 37, 40};
constexpr std::array<std::uint32_t, 8> one_machine_counts{1, 2, 3, 4, 5, 6, 7, 8};
constexpr std::array<std::uint32_t, 8> shown_counts{1, 5, 10, 15, 20, 25, 31, 40};
constexpr std::array<std::uint32_t, 11> shares{0, 10, 20, 25, 30, 40, 50, 60, 75, 90, 100};
constexpr std::array<std::uint32_t, 12> loads_permille{1,   50,  100, 200, 300, 400,
                                                       500, 600, 700, 800, 850, 900};
constexpr std::array<std::uint32_t, 1> one{1};
constexpr std::array<std::uint32_t, 3> many{15, 31, 40};

// The thesis' statement for many clients (section 5.4.3): the end of the growth.
struct Plateau {
  std::uint32_t get_percent;
  std::uint32_t clients;
  double millions_per_second;
};
constexpr std::array plateaus{Plateau{0, 20, 1.9}, Plateau{25, 25, 2.4}, Plateau{50, 28, 3.0},
                              Plateau{75, 30, 4.0}, Plateau{100, 31, 5.2}};
// Beyond the peak of GETs alone.
constexpr std::array falling{Plateau{100, 37, 4.2}, Plateau{100, 40, 4.0}};

constexpr double thesis_get_us = 6.8;  // of one client (section 5.4.2)
constexpr double thesis_set_us = 10.2;

double thesis_mean_us(std::uint32_t get_percent) {
  const double gets = get_percent / 100.0;
  return gets * thesis_get_us + (1 - gets) * thesis_set_us;
}

double millions(const Throughput& measured) { return measured.operations_per_second / 1e6; }
double thousands(const Throughput& measured) { return measured.operations_per_second / 1e3; }
double get_us(const Throughput& measured) { return measured.get_latency_us; }
double set_us(const Throughput& measured) { return measured.set_latency_us; }

std::string mix_name(std::uint32_t get_percent) {
  if (get_percent == only_sets) return "SET";
  if (get_percent == only_gets) return "GET";
  return fmt::format("{} % GET", get_percent);
}

class ThroughputFigures {
 public:
  ThroughputFigures(const Profile& profile, const Effort& effort)
      : profile_(profile), effort_(effort) {}

  std::vector<Figure> predict() {
    std::vector<Figure> figures{one_client(), many_clients(), one_machine()};
    figures.push_back(by_load("5.8", "Throughput of one client", one, thousands,
                              "thousand operations per second"));
    compare_one_client(figures.back());
    figures.push_back(by_load("5.9", "Throughput of many clients", many, millions,
                              "million operations per second"));
    compare_many_clients(figures.back());
    for (const bool of_gets : {false, true}) figures.push_back(latency_by_clients(of_gets));
    for (const bool of_gets : {false, true}) figures.push_back(latency_by_mix(of_gets));
    for (const bool of_gets : {false, true}) figures.push_back(latency_of_one_machine(of_gets));
    figures.push_back(latency_by_load("5.16", "Latency of one client", one));
    figures.back().comparisons = {
        compare("GET, load 0.1, from 5.5, us", thesis_get_us, {.clients = 1}, get_us),
        compare("SET, load 0.1, from 5.5, us", thesis_set_us,
                {.clients = 1, .get_percent = only_sets}, set_us)};
    figures.push_back(latency_by_load("5.17", "Latency with many clients", many));
    return figures;
  }

 private:
  using Value = double (*)(const Throughput&);
  using SettingOf = std::function<Setting(std::uint32_t x)>;

  const Throughput& measure(const Setting& setting) {
    const auto [place, is_new] = measured_.try_emplace(setting);
    if (is_new) place->second = measure_throughput(profile_, load_of(setting));
    return place->second;
  }

  ThroughputLoad load_of(const Setting& setting) const {
    return {.clients = setting.clients,
            .machines = setting.machines,
            .get_percent = setting.get_percent,
            .load = setting.load_permille / 1000.0,
            .table_entries = effort_.table_entries,
            .safeguards =
                setting.hardened ? engine::Safeguards::hardened() : engine::Safeguards::published(),
            .duration_ns = effort_.duration_ns,
            .seed = effort_.seed};
  }

  Comparison compare(std::string quantity, double thesis, Setting setting, Value value) {
    Comparison comparison{.quantity = std::move(quantity), .measured = thesis};
    comparison.published = value(measure(setting));
    setting.hardened = true;
    comparison.hardened = value(measure(setting));
    return comparison;
  }

  // Adds the curve for both protocols. `unit` is the x value of 1 on the axis.
  void add_curves(Figure& figure, const std::string& name, std::span<const std::uint32_t> xs,
                  const SettingOf& setting_of, Value value, double unit = 1) {
    for (const bool hardened : {false, true}) {
      const std::string protocol = hardened ? "hardened" : "published";
      Series series{.name = fmt::format("{}, {}", name, protocol), .protocol = protocol};
      for (const std::uint32_t x : xs) {
        Setting setting = setting_of(x);
        setting.hardened = hardened;
        series.points.push_back({x * unit, value(measure(setting))});
      }
      figure.series.push_back(std::move(series));
    }
  }

  Figure one_client() {
    Figure figure{.number = "5.5",
                  .title = "Throughput of one client",
                  .x = {.label = "GETs in percent"},
                  .y = {.label = "thousand operations per second"}};
    const auto setting_of = [](std::uint32_t share) { return Setting{.get_percent = share}; };
    add_curves(figure, "one client", shares, setting_of, thousands);
    Series thesis{.name = "one client", .measured = true};
    for (const std::uint32_t share : shares) {
      thesis.points.push_back({static_cast<double>(share), 1e3 / thesis_mean_us(share)});
    }
    figure.series.push_back(std::move(thesis));
    for (const std::uint32_t mix : mixes) {
      figure.comparisons.push_back(compare(mix_name(mix) + ", kops/s", 1e3 / thesis_mean_us(mix),
                                           setting_of(mix), thousands));
    }
    return figure;
  }

  static Setting of_clients(std::uint32_t clients, std::uint32_t get_percent) {
    return {.clients = clients, .get_percent = get_percent};
  }

  static Series thesis_throughput(const Plateau& plateau) {
    Series series{.name = mix_name(plateau.get_percent), .measured = true};
    series.points = {{1, 1 / thesis_mean_us(plateau.get_percent)},
                     {static_cast<double>(plateau.clients), plateau.millions_per_second}};
    if (plateau.get_percent != only_gets) {
      series.points.push_back({40, plateau.millions_per_second});
      return series;
    }
    for (const Plateau& later : falling) {
      series.points.push_back({static_cast<double>(later.clients), later.millions_per_second});
    }
    return series;
  }

  Figure many_clients() {
    Figure figure{.number = "5.6",
                  .title = "Throughput of clients on five machines",
                  .x = {.label = "clients"},
                  .y = {.label = "million operations per second"}};
    for (const Plateau& plateau : plateaus) {
      const std::uint32_t mix = plateau.get_percent;
      add_curves(
          figure, mix_name(mix), client_counts,
          [mix](std::uint32_t clients) { return of_clients(clients, mix); }, millions);
      figure.series.push_back(thesis_throughput(plateau));
      figure.comparisons.push_back(compare_throughput(plateau));
    }
    for (const Plateau& later : falling) figure.comparisons.push_back(compare_throughput(later));
    return figure;
  }

  Comparison compare_throughput(const Plateau& plateau) {
    return compare(
        fmt::format("{}, {} clients, Mops/s", mix_name(plateau.get_percent), plateau.clients),
        plateau.millions_per_second, of_clients(plateau.clients, plateau.get_percent), millions);
  }

  Figure one_machine() {
    Figure figure{.number = "5.7",
                  .title = "Throughput of clients on one machine",
                  .x = {.label = "clients"},
                  .y = {.label = "million operations per second"}};
    for (const std::uint32_t mix : mixes) {
      add_curves(
          figure, mix_name(mix), one_machine_counts,
          [mix](std::uint32_t clients) {
            return Setting{.clients = clients, .machines = 1, .get_percent = mix};
          },
          millions);
    }
    return figure;
  }

  Figure by_load(const std::string& number, const std::string& title,
                 std::span<const std::uint32_t> counts, Value value, const std::string& label) {
    Figure figure{.number = number, .title = title, .x = {.label = "load"}, .y = {.label = label}};
    add_load_curves(figure, counts, value, value);
    return figure;
  }

  Figure latency_by_load(const std::string& number, const std::string& title,
                         std::span<const std::uint32_t> counts) {
    Figure figure{.number = number,
                  .title = title,
                  .x = {.label = "load"},
                  .y = {.label = "latency in microseconds"}};
    add_load_curves(figure, counts, set_us, get_us);
    return figure;
  }

  void add_load_curves(Figure& figure, std::span<const std::uint32_t> counts, Value value_of_sets,
                       Value value_of_gets) {
    for (const std::uint32_t clients : counts) {
      for (const std::uint32_t mix : {only_sets, only_gets}) {
        std::string name = mix_name(mix);
        if (counts.size() > 1) name += fmt::format(", {} clients", clients);
        add_curves(
            figure, name, loads_permille,
            [clients, mix](std::uint32_t permille) {
              return Setting{.clients = clients, .get_percent = mix, .load_permille = permille};
            },
            mix == only_gets ? value_of_gets : value_of_sets, 0.001);
      }
    }
  }

  void compare_one_client(Figure& figure) {
    for (const std::uint32_t mix : {only_sets, only_gets}) {
      figure.comparisons.push_back(compare(mix_name(mix) + ", load 0.1, from 5.5, kops/s",
                                           1e3 / thesis_mean_us(mix), {.get_percent = mix},
                                           thousands));
    }
  }

  void compare_many_clients(Figure& figure) {
    for (const Plateau& stated :
         {Plateau{0, 31, 1.9}, Plateau{100, 31, 5.2}, Plateau{0, 40, 1.9}, Plateau{100, 40, 4.0}}) {
      figure.comparisons.push_back(compare_throughput(stated));
      figure.comparisons.back().quantity += ", load 0.1, from 5.6";
    }
  }

  static std::string panel(const std::string& number, bool of_gets) {
    return number + (of_gets ? "b" : "a");
  }

  static bool has(bool of_gets, std::uint32_t get_percent) {
    return get_percent != (of_gets ? only_sets : only_gets);
  }

  Figure latency_figure(const std::string& number, bool of_gets, const std::string& what,
                        const std::string& x_label) {
    return {.number = panel(number, of_gets),
            .title = fmt::format("Latency of {} {}", of_gets ? "GET" : "SET", what),
            .x = {.label = x_label},
            .y = {.label = "latency in microseconds"}};
  }

  Figure latency_by_clients(bool of_gets) {
    Figure figure = latency_figure("5.13", of_gets, "by the number of clients", "clients");
    const Value value = of_gets ? get_us : set_us;
    for (const Plateau& plateau : plateaus) {
      const std::uint32_t mix = plateau.get_percent;
      if (!has(of_gets, mix)) continue;
      add_curves(
          figure, mix_name(mix), client_counts,
          [mix](std::uint32_t clients) { return of_clients(clients, mix); }, value);
    }
    add_thesis_latencies(figure, of_gets);
    return figure;
  }

  // The thesis states a range for few clients. For many, each client waits for one operation at a
  // time, so latency follows from throughput.
  void add_thesis_latencies(Figure& figure, bool of_gets) {
    if (!of_gets) {
      figure.series.push_back(
          {.name = "SET, lower end", .points = {{1, 8}, {15, 8}}, .measured = true});
      figure.series.push_back(
          {.name = "SET, upper end", .points = {{1, 10}, {15, 10}}, .measured = true});
      figure.comparisons.push_back(
          compare("SET, 15 clients, upper end, us", 10, of_clients(15, only_sets), set_us));
    }
    const std::uint32_t mix = of_gets ? only_gets : only_sets;
    Series follows{.name = mix_name(mix) + ", from 5.6", .measured = true};
    for (const Plateau& stated :
         {Plateau{0, 20, 1.9}, Plateau{0, 40, 1.9}, Plateau{100, 31, 5.2}, Plateau{100, 40, 4.0}}) {
      if (stated.get_percent != mix) continue;
      const double latency_us = stated.clients / stated.millions_per_second;
      follows.points.push_back({static_cast<double>(stated.clients), latency_us});
      figure.comparisons.push_back(
          compare(fmt::format("{}, {} clients, from 5.6, us", mix_name(mix), stated.clients),
                  latency_us, of_clients(stated.clients, mix), of_gets ? get_us : set_us));
    }
    figure.series.push_back(std::move(follows));
  }

  Figure latency_by_mix(bool of_gets) {
    Figure figure = latency_figure("5.14", of_gets, "by the share of GETs", "GETs in percent");
    std::vector<std::uint32_t> xs;
    for (const std::uint32_t mix : mixes) {
      if (has(of_gets, mix)) xs.push_back(mix);
    }
    for (const std::uint32_t clients : shown_counts) {
      add_curves(
          figure, fmt::format("{} clients", clients), xs,
          [clients](std::uint32_t mix) { return of_clients(clients, mix); },
          of_gets ? get_us : set_us);
    }
    return figure;
  }

  Figure latency_of_one_machine(bool of_gets) {
    Figure figure = latency_figure("5.15", of_gets, "on one machine", "clients");
    for (const std::uint32_t mix : mixes) {
      if (!has(of_gets, mix)) continue;
      add_curves(
          figure, mix_name(mix), one_machine_counts,
          [mix](std::uint32_t clients) {
            return Setting{.clients = clients, .machines = 1, .get_percent = mix};
          },
          of_gets ? get_us : set_us);
    }
    return figure;
  }

  const Profile& profile_;
  const Effort& effort_;
  std::map<Setting, Throughput> measured_;
};

}  // namespace

std::vector<Figure> predict_throughput(const Profile& profile, const Effort& effort) {
  return ThroughputFigures(profile, effort).predict();
}

}  // namespace falafel::figures
