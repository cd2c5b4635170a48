// Figures 4.1 and 4.2 of the thesis: what the card of the profile does.
#include "tools/benchmarks/figures/card_cost.h"
#include "tools/benchmarks/figures/predictions.h"

namespace falafel::figures {
namespace {

using fabric::Opcode;
using sim::timing::Profile;

constexpr double gib = 1024.0 * 1024 * 1024;

double latency_us(const Profile& profile, Opcode opcode, std::uint32_t bytes) {
  return measure_card(profile, {.opcode = opcode, .length_bytes = bytes}).latency_ns / 1e3;
}

// As in the thesis, one machine serves clients on four others.
double rate(const Profile& profile, Opcode opcode, std::uint32_t bytes) {
  return measure_card(profile, {.opcode = opcode,
                                .length_bytes = bytes,
                                .clients = 8,
                                .machines = 4,
                                .in_flight = 16,
                                .requests = 2'000})
      .requests_per_second;
}

Figure latencies(const Profile& profile) {
  Figure figure{.number = "4.1",
                .title = "Latency of READ, WRITE and compare-and-swap",
                .x = {.label = "size in bytes", .logarithmic = true},
                .y = {.label = "latency in microseconds"}};
  Series reads{.name = "READ"};
  Series writes{.name = "WRITE"};
  for (std::uint32_t bytes = 4; bytes <= 16'384; bytes *= 2) {
    reads.points.push_back({static_cast<double>(bytes), latency_us(profile, Opcode::read, bytes)});
    writes.points.push_back(
        {static_cast<double>(bytes), latency_us(profile, Opcode::write, bytes)});
  }
  const double swap_us = latency_us(profile, Opcode::compare_and_swap, fabric::word_bytes);
  figure.series = {reads,
                   writes,
                   {.name = "compare-and-swap", .points = {{8, swap_us}}},
                   {.name = "READ", .points = {{4, 2.8}, {64, 2.9}, {4096, 6.3}}, .measured = true},
                   {.name = "WRITE", .points = {{4, 1.8}, {4096, 5.0}}, .measured = true},
                   {.name = "compare-and-swap", .points = {{8, 3.0}}, .measured = true}};
  figure.comparisons = {
      {"READ of 4 bytes, us", 2.8, latency_us(profile, Opcode::read, 4)},
      {"READ of 64 bytes, us", 2.9, latency_us(profile, Opcode::read, 64)},
      {"READ of 4 KiB, us", 6.3, latency_us(profile, Opcode::read, 4096)},
      {"WRITE of 4 bytes, us", 1.8, latency_us(profile, Opcode::write, 4)},
      {"WRITE of 4 KiB, us", 5.0, latency_us(profile, Opcode::write, 4096)},
      {"READ minus WRITE, 1 MiB, us", 13,
       latency_us(profile, Opcode::read, 1 << 20) - latency_us(profile, Opcode::write, 1 << 20)},
      {"compare-and-swap, us", 3.0, swap_us}};
  return figure;
}

std::vector<Figure> rates(const Profile& profile) {
  Figure operations{.number = "4.2a",
                    .title = "Rate of READ and WRITE at one server",
                    .x = {.label = "size in bytes", .logarithmic = true},
                    .y = {.label = "million operations per second"}};
  Figure bandwidth{.number = "4.2b",
                   .title = "Bandwidth of READ and WRITE at one server",
                   .x = {.label = "size in bytes", .logarithmic = true},
                   .y = {.label = "GiB per second"}};
  for (const auto& [name, opcode] : {std::pair{"READ", Opcode::read}, {"WRITE", Opcode::write}}) {
    Series rates{.name = name};
    Series bytes_per_second{.name = name};
    for (std::uint32_t bytes = 4; bytes <= 2048; bytes *= 2) {
      const double per_second = rate(profile, opcode, bytes);
      rates.points.push_back({static_cast<double>(bytes), per_second / 1e6});
      bytes_per_second.points.push_back({static_cast<double>(bytes), per_second * bytes / gib});
    }
    const double largest = bytes_per_second.points.back().y;
    bandwidth.comparisons.push_back({std::string(name) + ", most GiB per second", 3.1, largest});
    operations.series.push_back(std::move(rates));
    bandwidth.series.push_back(std::move(bytes_per_second));
  }
  operations.series.push_back(
      {.name = "READ", .points = {{4, 15.9}, {100, 15.6}}, .measured = true});
  operations.series.push_back({.name = "WRITE", .points = {{4, 29}}, .measured = true});
  bandwidth.series.push_back(
      {.name = "READ and WRITE, most", .points = {{2048, 3.1}}, .measured = true});
  const auto millions = [&](Opcode opcode, std::uint32_t bytes) {
    return rate(profile, opcode, bytes) / 1e6;
  };
  operations.comparisons = {
      {"READ of 4 bytes, Mops/s", 15.9, millions(Opcode::read, 4)},
      {"READ of 100 bytes, Mops/s", 15.6, millions(Opcode::read, 100)},
      {"WRITE of 4 bytes, Mops/s", 29, millions(Opcode::write, 4)},
      {"compare-and-swap, Mops/s", 2.5, millions(Opcode::compare_and_swap, fabric::word_bytes)}};
  return {std::move(operations), std::move(bandwidth)};
}

}  // namespace

std::vector<Figure> predict_card(const Profile& profile) {
  std::vector<Figure> figures{latencies(profile)};
  for (Figure& figure : rates(profile)) figures.push_back(std::move(figure));
  return figures;
}

}  // namespace falafel::figures
