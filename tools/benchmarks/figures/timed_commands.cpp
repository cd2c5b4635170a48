#include "tools/benchmarks/figures/timed_commands.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "tools/benchmarks/figures/card_cost.h"
#include "tools/benchmarks/figures/card_option.h"
#include "tools/benchmarks/figures/figure.h"
#include "tools/benchmarks/figures/latency.h"
#include "tools/benchmarks/figures/throughput.h"

namespace falafel::figures {
namespace {

using sim::timing::Profile;

std::string compared(double predicted, double thesis) {
  return fmt::format("{:.2f} | {:.2f} | {:+.0f} %", predicted, thesis,
                     deviation_percent(predicted, thesis));
}

void print_card_latencies(const Profile& profile) {
  using fabric::Opcode;
  fmt::print("| bytes | READ, us | WRITE, us | CAS, us |\n| --: | --: | --: | --: |\n");
  for (const std::uint32_t bytes : {4U, 8U, 16U, 32U, 64U, 128U, 256U, 512U, 1024U, 2048U, 4096U,
                                    8192U, 16384U, 65536U, 262144U, 1048576U}) {
    const auto latency_us = [&](Opcode opcode) {
      return measure_card(profile, {.opcode = opcode, .length_bytes = bytes}).latency_ns / 1e3;
    };
    fmt::print("| {} | {:.2f} | {:.2f} | {} |\n", bytes, latency_us(Opcode::read),
               latency_us(Opcode::write),
               bytes == fabric::word_bytes
                   ? fmt::format("{:.2f}", latency_us(Opcode::compare_and_swap))
                   : "");
  }
}

// As in the thesis, one machine serves clients on four others.
void print_card_rates(const Profile& profile) {
  using fabric::Opcode;
  fmt::print(
      "\n| bytes | READ, Mops/s | WRITE, Mops/s | CAS, Mops/s | READ, GiB/s | WRITE, GiB/s |\n"
      "| --: | --: | --: | --: | --: | --: |\n");
  for (const std::uint32_t bytes :
       {4U, 8U, 16U, 32U, 64U, 100U, 128U, 256U, 512U, 1024U, 2048U, 65536U}) {
    const auto rate = [&](Opcode opcode) {
      return measure_card(profile, {.opcode = opcode,
                                    .length_bytes = bytes,
                                    .clients = 8,
                                    .machines = 4,
                                    .in_flight = 16,
                                    .requests = bytes > 4096 ? 200U : 5'000U})
                 .requests_per_second /
             1e6;
    };
    const double reads = rate(Opcode::read);
    const double writes = rate(Opcode::write);
    const double mebi = bytes * 1e6 / (1024.0 * 1024 * 1024);
    fmt::print(
        "| {} | {:.2f} | {:.2f} | {} | {:.2f} | {:.2f} |\n", bytes, reads, writes,
        bytes == fabric::word_bytes ? fmt::format("{:.2f}", rate(Opcode::compare_and_swap)) : "",
        reads * mebi, writes * mebi);
  }
}

// A statement in the text of the thesis, section 5.4.
struct Plateau {
  std::uint32_t get_percent;
  std::uint32_t clients;
  double millions_per_second;
};
constexpr std::array plateaus{Plateau{0, 20, 1.9}, Plateau{25, 25, 2.4}, Plateau{50, 28, 3.0},
                              Plateau{75, 30, 4.0}, Plateau{100, 31, 5.2}};

void print_one_client(const Profile& profile, ThroughputLoad load) {
  fmt::print(
      "| GETs | kops/s | thesis | deviation | median GET, us | median SET, us |\n"
      "| --: | --: | --: | --: | --: | --: |\n");
  load.clients = 1;
  for (const std::uint32_t get_percent : {0U, 25U, 50U, 75U, 100U}) {
    load.get_percent = get_percent;
    const Throughput measured = measure_throughput(profile, load);
    const double gets = get_percent / 100.0;
    const double thesis = 1'000 / (gets * 6.8 + (1 - gets) * 10.2);
    fmt::print("| {} % | {:.1f} | {:.1f} | {:+.0f} % | {:.2f} | {:.2f} |\n", get_percent,
               measured.operations_per_second / 1e3, thesis,
               deviation_percent(measured.operations_per_second / 1e3, thesis),
               measured.get_latency_us, measured.set_latency_us);
  }
}

void print_many_clients(const Profile& profile, ThroughputLoad load) {
  fmt::print("\n| clients |");
  for (const Plateau& plateau : plateaus) fmt::print(" {} % GET |", plateau.get_percent);
  fmt::print("\n| --: | --: | --: | --: | --: | --: |\n");
  for (const std::uint32_t clients : {1U, 5U, 10U, 15U, 20U, 25U, 30U, 35U, 40U}) {
    fmt::print("| {} |", clients);
    for (const Plateau& plateau : plateaus) {
      load.clients = clients;
      load.get_percent = plateau.get_percent;
      fmt::print(" {:.2f} |", measure_throughput(profile, load).operations_per_second / 1e6);
      std::fflush(stdout);
    }
    fmt::print("\n");
  }
  fmt::print(
      "\n| GETs | clients | Mops/s | thesis | deviation | busiest part of the server |\n"
      "| --: | --: | --: | --: | --: | --- |\n");
  for (const Plateau& plateau : plateaus) {
    load.clients = plateau.clients;
    load.get_percent = plateau.get_percent;
    const Throughput measured = measure_throughput(profile, load);
    fmt::print("| {} % | {} | {} | {}, {:.0f} % |\n", plateau.get_percent, plateau.clients,
               compared(measured.operations_per_second / 1e6, plateau.millions_per_second),
               measured.server.front().part, measured.server.front().share * 100);
  }
}

void print_latencies(const Profile& profile, bool hardened) {
  LatencyOptions options;
  if (hardened) options.safeguards = engine::Safeguards::hardened();
  fmt::print("| value bytes |");
  for (const LatencyCase& latency_case : latency_cases()) fmt::print(" {} |", latency_case.name);
  fmt::print("\n| --: |");
  for (std::size_t index = 0; index < latency_cases().size(); ++index) fmt::print(" --: |");
  fmt::print("\n");
  for (const std::uint64_t bytes :
       {8U, 64U, 256U, 464U, 512U, 1024U, 2048U, 4096U, 8192U, 16384U, 65536U, 1048576U}) {
    fmt::print("| {} |", bytes);
    for (const double latency_us : measure_latencies(profile, bytes, options)) {
      fmt::print(" {:.2f} |", latency_us);
    }
    fmt::print("\n");
  }
  fmt::print("\n| operation, 8 bytes | us | thesis | deviation |\n| --- | --: | --: | --: |\n");
  const std::vector<double> small = measure_latencies(profile, 8, options);
  for (std::size_t index = 0; index < small.size(); ++index) {
    const LatencyCase& latency_case = latency_cases()[index];
    fmt::print("| {} | {} |\n", latency_case.name, compared(small[index], latency_case.thesis_us));
  }
}

}  // namespace

void add_card_command(CLI::App& app) {
  const auto card = std::make_shared<std::string>("connectx3-qdr");
  CLI::App* const command =
      app.add_subcommand("card", "latency and rate of a profile's card (figures 4.1 and 4.2)");
  add_card_option(*command, *card);
  command->callback([card] {
    const Profile profile = profile_of(*card);
    print_card_latencies(profile);
    print_card_rates(profile);
  });
}

void add_throughput_command(CLI::App& app) {
  const auto card = std::make_shared<std::string>("connectx3-qdr");
  const auto hardened = std::make_shared<bool>(false);
  const auto load = std::make_shared<ThroughputLoad>();
  CLI::App* const command = app.add_subcommand(
      "throughput", "throughput of the store with 1 to 40 clients (figures 5.5 and 5.6)");
  add_card_option(*command, *card);
  command->add_flag("--hardened", *hardened, "the hardened protocol instead of the published one");
  command->add_option("--entries", load->table_entries, "number of entries in the table")
      ->check(CLI::Range(1'000, 100'000'000))
      ->capture_default_str();
  command->add_option("--load", load->load, "load of the table")
      ->check(CLI::Range(0.001, 0.95))
      ->capture_default_str();
  command->add_option("--nodes", load->machines, "machines that the clients are distributed among")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command->add_option("--seed", load->seed, "seed of the operations")->capture_default_str();
  command->callback([card, hardened, load] {
    const Profile profile = profile_of(*card);
    if (*hardened) load->safeguards = engine::Safeguards::hardened();
    print_one_client(profile, *load);
    print_many_clients(profile, *load);
  });
}

void add_latency_command(CLI::App& app) {
  const auto card = std::make_shared<std::string>("connectx3-qdr");
  const auto hardened = std::make_shared<bool>(false);
  CLI::App* const command =
      app.add_subcommand("latency", "latency of one client by value size (figures 5.10 to 5.12)");
  add_card_option(*command, *card);
  command->add_flag("--hardened", *hardened, "the hardened protocol instead of the published one");
  command->callback([card, hardened] { print_latencies(profile_of(*card), *hardened); });
}

}  // namespace falafel::figures
