// Figures 1 and 2 and table 1 of Pilaf's paper: READs of a server's memory beside exchanges of
// messages with it, over verbs and over IPoIB. The size is that of the READ or of the request; each
// reply has 10 bytes. No profile describes the paper's Ethernet cards.
#include <fmt/format.h>

#include <array>
#include <functional>

#include "tools/benchmarks/figures/card_cost.h"
#include "tools/benchmarks/figures/exchange_cost.h"
#include "tools/benchmarks/figures/pilaf_figures.h"

namespace falafel::figures {
namespace {

using fabric::Transport;
using sim::timing::Profile;

constexpr std::array<std::uint32_t, 5> request_sizes{16, 64, 256, 1'024, 4'096};
constexpr std::uint32_t many_clients = 40;
constexpr std::uint32_t client_machines = 10;

// Several clients, to reach what the server can do.
struct TransportLoad {
  std::uint32_t clients = 1;
  std::uint32_t machines = 1;
};
constexpr TransportLoad one_client{};
constexpr TransportLoad all_clients{.clients = many_clients, .machines = client_machines};

struct TransportCost {
  double latency_us = 0;
  double millions_per_second = 0;
};

TransportCost cost_of_reads(const Profile& card, const TransportLoad& load, std::uint32_t bytes) {
  const CardCost cost = measure_card(
      card, {.length_bytes = bytes, .clients = load.clients, .machines = load.machines});
  return {.latency_us = cost.latency_ns / 1e3,
          .millions_per_second = cost.requests_per_second / 1e6};
}

TransportCost cost_of_exchanges(const Profile& card, const TransportLoad& load, Transport transport,
                                std::uint32_t bytes) {
  const ExchangeCost cost = measure_exchanges(card, {.transport = transport,
                                                     .request_bytes = bytes,
                                                     .clients = load.clients,
                                                     .machines = load.machines});
  return {.latency_us = cost.latency_ns / 1e3,
          .millions_per_second = cost.exchanges_per_second / 1e6};
}

// A way to reach the server, and what table 1 states in million operations per second.
struct Way {
  std::string name;
  std::function<TransportCost(const Profile& card, const TransportLoad& load, std::uint32_t bytes)>
      cost;
  std::array<double, 3> table_millions{};
};
constexpr std::array<std::uint32_t, 3> table_sizes{16, 1'024, 4'096};

std::array<Way, 3> ways() {
  const auto exchanges = [](Transport transport) {
    return [transport](const Profile& card, const TransportLoad& load, std::uint32_t bytes) {
      return cost_of_exchanges(card, load, transport, bytes);
    };
  };
  return {Way{"READ", cost_of_reads, {2.449, 1.496, 0.472}},
          Way{"messages", exchanges(Transport::reliable_connection), {0.668, 0.668, 0.464}},
          Way{"IPoIB", exchanges(Transport::message_stream), {0.126, 0.122, 0.028}}};
}

double megabits(double millions_per_second, std::uint32_t bytes) {
  return millions_per_second * bytes * 8;
}

Figure round_trips(const Profile& card) {
  Figure figure{.number = "1",
                .title = "Round trips of READ, messages and IPoIB",
                .x = {.label = "size in bytes", .logarithmic = true},
                .y = {.label = "microseconds", .logarithmic = true}};
  for (const Way& way : ways()) {
    Series series{.name = way.name};
    for (const std::uint32_t bytes : request_sizes) {
      series.points.push_back(
          {static_cast<double>(bytes), way.cost(card, one_client, bytes).latency_us});
    }
    figure.series.push_back(std::move(series));
  }
  const auto smallest = [&](std::size_t way) { return figure.series.at(way).points.front().y; };
  figure.comparisons = {{"READ, 16 bytes, us", 3, smallest(0)},
                        {"messages, 16 bytes, times READ", 2, smallest(1) / smallest(0)},
                        {"IPoIB, 16 bytes, us, at least", 60, smallest(2)}};
  figure.series.push_back({.name = "READ", .points = {{16, 3}}, .measured = true});
  figure.series.push_back({.name = "messages", .points = {{16, 6}}, .measured = true});
  figure.series.push_back({.name = "IPoIB", .points = {{16, 60}}, .measured = true});
  return figure;
}

std::vector<Figure> rates_of_server(const Profile& card) {
  Figure curves{.number = "2",
                .title = "Throughput of a server over READ, messages and IPoIB",
                .x = {.label = "size in bytes", .logarithmic = true},
                .y = {.label = "Mbit per second", .logarithmic = true}};
  Figure table{.number = "table 1", .title = "Operations per second", .x = {}, .y = {}};
  for (const Way& way : ways()) {
    Series predicted{.name = way.name};
    Series stated{.name = way.name, .measured = true};
    std::size_t row = 0;
    for (const std::uint32_t bytes : request_sizes) {
      const double millions = way.cost(card, all_clients, bytes).millions_per_second;
      predicted.points.push_back({static_cast<double>(bytes), megabits(millions, bytes)});
      if (row == table_sizes.size() || bytes != table_sizes.at(row)) continue;
      const double measured = way.table_millions.at(row++);
      stated.points.push_back({static_cast<double>(bytes), megabits(measured, bytes)});
      table.comparisons.push_back(
          {fmt::format("{}, {} bytes, Mops/s", way.name, bytes), measured, millions});
    }
    curves.series.push_back(std::move(predicted));
    curves.series.push_back(std::move(stated));
  }
  return {std::move(curves), std::move(table)};
}

}  // namespace

std::vector<Figure> predict_pilaf_transports(const Profile& card) {
  std::vector<Figure> figures{round_trips(card)};
  for (Figure& figure : rates_of_server(card)) figures.push_back(std::move(figure));
  return figures;
}

}  // namespace falafel::figures
