// The reference: the same number of round trips on SimGrid, a simulator of distributed systems that
// models message arrival times. Eight clients, each a host with one actor, repeatedly send 64 bytes
// to an actor of the server and wait for 64 bytes from it. Prints JSON; rates are per second of
// processor time, from the start of the simulation to its end.
#include <simgrid/s4u.hpp>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

namespace {

namespace s4u = simgrid::s4u;

constexpr std::uint64_t client_count = 8;
constexpr std::uint64_t round_trips_per_client = 100'000;
constexpr std::uint64_t message_bytes = 64;

// Messages carry its address as payload; nobody reads it.
int message = 0;

struct Line {
  s4u::Mailbox* requests;
  s4u::Mailbox* replies;
};

void run_client(Line line) {
  for (std::uint64_t done = 0; done < round_trips_per_client; ++done) {
    line.requests->put(&message, message_bytes);
    line.replies->get<int>();
  }
}

void run_server(Line line) {
  for (std::uint64_t done = 0; done < round_trips_per_client; ++done) {
    line.requests->get<int>();
    line.replies->put(&message, message_bytes);
  }
}

// Every client has its own link to the server, so that no client waits for another one's messages.
void build_platform() {
  constexpr double operations_per_second = 1e9;
  constexpr double bytes_per_second = 12.5e9;
  constexpr double latency_s = 1e-6;
  s4u::NetZone* zone = s4u::create_full_zone("zone");
  const s4u::Host* server = zone->create_host("server", operations_per_second);
  for (std::uint64_t index = 0; index < client_count; ++index) {
    const std::string number = std::to_string(index);
    const s4u::Host* client = zone->create_host("client " + number, operations_per_second);
    const s4u::Link* link =
        zone->create_link("link " + number, bytes_per_second)->set_latency(latency_s)->seal();
    zone->add_route(client->get_netpoint(), server->get_netpoint(), nullptr, nullptr,
                    {s4u::LinkInRoute(link)}, true);
  }
  zone->seal();
}

// The server has one actor per client, so that no client waits for another one's turn.
void create_actors() {
  for (std::uint64_t index = 0; index < client_count; ++index) {
    const std::string number = std::to_string(index);
    const Line line{s4u::Mailbox::by_name("requests " + number),
                    s4u::Mailbox::by_name("replies " + number)};
    s4u::Actor::create("server", s4u::Host::by_name("server"), run_server, line);
    s4u::Actor::create("client", s4u::Host::by_name("client " + number), run_client, line);
  }
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

}  // namespace

int main(int argument_count, char** arguments) {
  s4u::Engine engine(&argument_count, arguments);
  build_platform();
  create_actors();
  const double start = processor_seconds();
  engine.run();
  const double seconds = processor_seconds() - start;
  constexpr std::uint64_t round_trips = client_count * round_trips_per_client;
  std::printf("{\"round_trips\": %llu, \"seconds\": %.6f, \"round_trips_per_second\": %.0f}\n",
              static_cast<unsigned long long>(round_trips), seconds,
              static_cast<double>(round_trips) / seconds);
  return 0;
}
