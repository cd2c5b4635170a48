// The engine over libibverbs, as a program of falafel run: a server, or a client that compares each
// answer with that of a map. Each client has keys of its own, in a table that all share.
//
// Usage: engine_over_verbs server CLIENTS [grows]
//        engine_over_verbs client CLIENTS NUMBER OPERATIONS
#include <dlfcn.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "engine/client/client.h"
#include "engine/server/server.h"
#include "fabric/text.h"
#include "fabric/time_units.h"
#include "fabric/verbs/host.h"

namespace {

using namespace falafel;  // NOLINT(google-build-using-namespace): a program of one file
using engine::Answer;
using fabric::bytes_of;

constexpr std::uint64_t keys_per_client = 12;
constexpr std::uint64_t most_value_bytes = 300;

// The registrations of this process.
struct Registrations {
  std::uint64_t paged = 0;
  std::uint64_t pinned = 0;
};

Registrations& registrations() {
  static Registrations counts;
  return counts;
}

int run_on_host(const std::string& name, const std::function<int(fabric::Host&)>& body) {
  verbs::HostOptions options;
  options.name = name;
  options.spin_ns = verbs::never_spin_ns;
  const auto host = verbs::Host::create(options);
  if (!host) {
    fmt::print("{}: {}\n", to_string(host.error().code), host.error().detail);
    return 2;
  }
  int status = 0;
  (*host)->run_program([&] { status = body(**host); });
  return status;
}

// Everything is small, so that there are collections and cleanups. A store that grows begins with a
// table that is too small for the keys, and with no block besides the first one.
engine::ServerOptions options_of_server(bool grows) {
  engine::ServerOptions options{.hash_key = engine::HashKey{}};
  options.geometry = {
      .table_entries = 128, .region_bytes = 4'096, .region_count = 16, .mature_bytes = 65'536};
  options.cleanup_percent = 2;
  if (!grows) return options;
  options.geometry.table_entries = 8;
  options.geometry.most_tables = 5;
  options.geometry.mature_bytes = 4'096;
  options.geometry.mature_space_count = 32;
  options.memory_grows = true;
  return options;
}

// Until all clients have been there, and are gone.
int serve(fabric::Host& host, std::uint64_t clients, bool grows) {
  const engine::ServerOptions options = options_of_server(grows);
  const auto server = engine::Server::start(host, options);
  if (!server) {
    fmt::print("{}: {}\n", to_string(server.error().code), server.error().detail);
    return 2;
  }
  const auto wait_until_connected = [&](std::uint64_t count) {
    while ((*server)->inspect().statistics.clients_connected != count) {
      host.sleep_until(host.now_ns() + fabric::millisecond_ns);
    }
  };
  const std::uint64_t held_bytes = (*server)->inspect().held_bytes;
  wait_until_connected(clients);
  wait_until_connected(0);
  const engine::ServerInspection inspection = (*server)->inspect();
  const engine::ServerStatistics& statistics = inspection.statistics;
  fmt::print("{} regions granted, {} collected\n", statistics.regions_granted,
             statistics.regions_collected);
  fmt::print("{} tables begun, {} entries moved, {} more bytes held, {} blocks released\n",
             statistics.tables_begun, statistics.entries_moved, inspection.held_bytes - held_bytes,
             statistics.blocks_released);
  fmt::print("{} registrations page memory, {} pin it\n", registrations().paged,
             registrations().pinned);
  return 0;
}

class Comparison {
 public:
  Comparison(fabric::Host& host, engine::Client& client, std::uint64_t number)
      : host_(host), client_(client), number_(number) {}

  bool holds() const { return holds_; }

  void operate() {
    const std::string key = fmt::format("{} {}", number_, host_.random(keys_per_client));
    const std::uint64_t choice = host_.random(100);
    if (choice < 50) return get(key);
    choice < 85 ? set(key) : remove(key);
  }

 private:
  void get(const std::string& key) {
    const engine::GetResult result = client_.get(bytes_of(key));
    const auto known = values_.find(key);
    expect(result.answer, known == values_.end() ? Answer::not_found : Answer::found, key);
    if (known != values_.end() && result.value != as_vector(known->second)) {
      fmt::print("GET {}: another value\n", key);
      holds_ = false;
    }
  }

  void set(const std::string& key) {
    const std::string value =
        fmt::format("{} ", ++sets_) + std::string(host_.random(most_value_bytes), '.');
    expect(client_.set(bytes_of(key), bytes_of(value)).answer, Answer::stored, key);
    values_[key] = value;
  }

  void remove(const std::string& key) {
    const bool is_known = values_.erase(key) != 0;
    expect(client_.remove(bytes_of(key)).answer, is_known ? Answer::deleted : Answer::not_found,
           key);
  }

  static std::vector<std::byte> as_vector(std::string_view text) {
    const auto bytes = bytes_of(text);
    return {bytes.begin(), bytes.end()};
  }

  void expect(Answer answer, Answer wanted, std::string_view key) {
    if (answer == wanted) return;
    fmt::print("{}: {}, not {}\n", key, to_string(answer), to_string(wanted));
    holds_ = false;
  }

  fabric::Host& host_;
  engine::Client& client_;
  std::uint64_t number_;
  std::map<std::string, std::string> values_;
  std::uint64_t sets_ = 0;
  bool holds_ = true;
};

// Clients begin together, so the server sees all of them.
void meet_others(fabric::Host& host, engine::Client& client, std::uint64_t clients,
                 std::uint64_t number) {
  const auto key_of = [](std::uint64_t other) { return fmt::format("client {}", other); };
  client.set(bytes_of(key_of(number)), bytes_of("here"));
  for (std::uint64_t other = 0; other < clients; ++other) {
    while (client.get(bytes_of(key_of(other))).answer != Answer::found) {
      host.sleep_until(host.now_ns() + fabric::millisecond_ns);
    }
  }
  host.sleep_until(host.now_ns() + 10 * fabric::millisecond_ns);
}

int use(fabric::Host& host, std::uint64_t clients, std::uint64_t number, std::uint64_t operations) {
  const auto client = engine::Client::connect(
      host, {.host = "server", .service = engine::ServerOptions{}.service}, {});
  if (!client) {
    fmt::print("{}: {}\n", to_string(client.error().code), client.error().detail);
    return 2;
  }
  meet_others(host, **client, clients, number);
  Comparison comparison(host, **client, number);
  for (std::uint64_t operation = 0; operation < operations; ++operation) comparison.operate();
  (*client)->disconnect();
  fmt::print("{} operations\n", operations);
  return comparison.holds() ? 0 : 1;
}

}  // namespace

// In front of the library's.
extern "C" ibv_mr* ibv_reg_mr_iova2(ibv_pd* domain, void* address, std::size_t bytes,
                                    std::uint64_t first_address, unsigned access) {
  const bool is_paged = (access & IBV_ACCESS_ON_DEMAND) != 0;
  ++(is_paged ? registrations().paged : registrations().pinned);
  static const auto next =
      reinterpret_cast<decltype(&ibv_reg_mr_iova2)>(::dlsym(RTLD_NEXT, "ibv_reg_mr_iova2"));
  return next(domain, address, bytes, first_address, access);
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const auto number = [&](int index) { return std::strtoull(arguments[index], nullptr, 10); };
  if (std::string_view(arguments[1]) == "server") {
    const bool grows = count > 3 && std::string_view(arguments[3]) == "grows";
    return run_on_host("server", [&](fabric::Host& host) { return serve(host, number(2), grows); });
  }
  if (count < 5) return 2;
  return run_on_host(fmt::format("client{}", number(3)), [&](fabric::Host& host) {
    return use(host, number(2), number(3), number(4));
  });
}
