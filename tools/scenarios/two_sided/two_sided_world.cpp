#include "tools/scenarios/two_sided/two_sided_world.h"

#include <string>
#include <utility>
#include <vector>

#include "fabric/at_end.h"
#include "fabric/time_units.h"
#include "stores/two_sided/invariants.h"
#include "tools/scenarios/map_calls.h"

namespace falafel::two_sided_scenario {
namespace {

using fabric::microsecond_ns;
using fabric::millisecond_ns;
using two_sided::Answer;

}  // namespace

TwoSidedWorld::TwoSidedWorld(check::World& world, const check::Plan<Map>& plan,
                             fabric::Transport transport)
    : world_(world),
      plan_(plan),
      history_(world.history<Map>()),
      options_(draw_options(transport)) {
  if (options_.is_reliable()) return;
  conditions_ = {.repeated = &world.sometimes("a request was sent again"),
                 .deduplicated = &world.sometimes("a repeated request was not carried out"),
                 .stale = &world.sometimes("a response to an earlier request was dropped")};
}

// The first value of each choice is the simplest.
two_sided::Options TwoSidedWorld::draw_options(fabric::Transport transport) {
  two_sided::Options options = two_sided::published_options(transport);
  options.buckets = world_.one_of<std::uint32_t>({1, 2, 4});
  options.most_pairs = world_.one_of<std::uint64_t>({16, 2});
  options.posted_receives = world_.one_of<std::uint32_t>({5, 1, 8});
  options.repost = world_.one_of({two_sided::Repost::after_reply, two_sided::Repost::before_reply});
  options.repetition_interval_ns = world_.one_of<std::uint64_t>({50, 5, 200}) * microsecond_ns;
  options.max_clients = 8;
  options.connect_timeout_ns = 20 * millisecond_ns;
  options.server_timeout_ns = 5 * millisecond_ns;
  options.close_timeout_ns = millisecond_ns;
  options.acknowledge_timeout_ns = 100 * microsecond_ns;
  for (const two_sided::SafeguardDescription& safeguard : two_sided::safeguard_descriptions) {
    const bool matters = safeguard.matters_on_reliable_connections || !options.is_reliable();
    options.safeguards.*safeguard.enabled = matters && world_.safeguard(safeguard.name);
  }
  options.waiting = draw_waiting(options);
  return options;
}

// A thread that polls does the same as one that blocks, in more steps, except that it repeats
// requests without time-outs. Those that wait for events make up for lost ones with time-outs.
two_sided::Waiting TwoSidedWorld::draw_waiting(const two_sided::Options& options) {
  using two_sided::Waiting;
  if (options.safeguards.time_outs || options.is_reliable()) return Waiting::blocking;
  return world_.one_of({Waiting::blocking, Waiting::polling, Waiting::blocking_on_events});
}

void TwoSidedWorld::serve(fabric::Host& host) {
  std::unique_ptr<two_sided::Server> server;
  const fabric::AtEnd record([&] {
    if (server != nullptr) server_ = server->inspect();
  });
  server = scenarios::start_at_last(host, [&] { return two_sided::Server::start(host, options_); });
  host.create_event()->wait(fabric::never_ns);
}

// Null if the server does not start in time.
std::unique_ptr<two_sided::Client> TwoSidedWorld::connect(fabric::Host& host) {
  return scenarios::connect_within(host, options_.connect_timeout_ns, 20 * microsecond_ns, [&] {
    return two_sided::Client::connect(host, {.host = "server", .service = options_.service},
                                      options_);
  });
}

// Returns false if the client cannot go on.
bool TwoSidedWorld::execute(two_sided::Client& client, std::uint32_t number,
                            const Map::Operation& operation) {
  Answer answer = Answer::disconnected;
  history_.call(number, operation, [&] {
    return scenarios::execute_on(client, operation, scenarios::Texts(), answer);
  });
  return answer != Answer::disconnected;
}

void TwoSidedWorld::work(fabric::Host& host, std::uint32_t number) {
  const auto client = connect(host);
  if (client == nullptr) return;
  const fabric::AtEnd count([&] { note(client->statistics()); });
  for (const Map::Operation& operation : plan_.operations(number)) {
    if (!execute(*client, number, operation)) return;
  }
  for (const char* const key : key_names) {
    if (!execute(*client, number, Map::Get{key})) return;
  }
  client->close();
}

void TwoSidedWorld::note(const two_sided::OperationStatistics& statistics) {
  if (conditions_.repeated == nullptr) return;
  conditions_.repeated->reached_if(statistics.repetitions > 0);
  conditions_.stale->reached_if(statistics.stale_responses > 0);
}

void TwoSidedWorld::judge_memory() {
  if (!server_) return;
  if (conditions_.deduplicated != nullptr) {
    conditions_.deduplicated->reached_if(server_->statistics.requests_repeated > 0);
  }
  if (server_->statistics.busy_workers > 0) return;  // stopped in the middle of a request
  const std::vector<std::string> problems = two_sided::find_problems(*server_);
  if (!problems.empty()) world_.fail(std::string(memory_property), problems.front());
}

void TwoSidedWorld::run() {
  world_.server("server", [this](fabric::Host& host) { serve(host); });
  world_.clients(plan_.clients(),
                 [this](fabric::Host& host, std::uint32_t number) { work(host, number); });
  world_.at_rest([this] { judge_memory(); });
  world_.run();
}

}  // namespace falafel::two_sided_scenario
