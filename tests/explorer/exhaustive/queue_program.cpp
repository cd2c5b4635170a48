#include "tests/explorer/exhaustive/queue_program.h"

#include <fmt/format.h>

#include "explorer/exhaustive/exhaustive.h"
#include "explorer/exhaustive/search_strategy.h"
#include "fabric/random.h"
#include "fabric/sim/simulation.h"

namespace falafel::explorer {
namespace {

using litmus::Party;
using litmus::Trial;

constexpr std::uint64_t target_words = 3;  // that requests access
constexpr std::uint32_t small_mtu_bytes = 16;
constexpr std::uint64_t step_limit = 1'000;

bool takes_two_words(QueueVerb verb) {
  return verb == QueueVerb::read || verb == QueueVerb::write ||
         verb == QueueVerb::write_with_immediate;
}

QueueCall draw_call(fabric::RandomGenerator& random, bool has_messages) {
  QueueCall call;
  call.verb = static_cast<QueueVerb>(random.below(has_messages ? 6 : 4));
  call.word = random.below(target_words - 1);
  if (takes_two_words(call.verb)) call.count = 1 + random.below(2);
  call.is_fenced = random.below(4) == 0;
  call.is_signalled = random.below(3) != 0;
  call.is_inlined = call.verb == QueueVerb::write && random.below(4) == 0;
  call.ends_chain = random.below(4) == 0;
  return call;
}

fabric::WorkRequest make_request(Party& client, const QueueCall& call, std::uint64_t value) {
  fabric::WorkRequest request;
  switch (call.verb) {
    case QueueVerb::read: request = client.read(call.word, call.count); break;
    case QueueVerb::write: request = client.fill(call.word, value, call.count); break;
    case QueueVerb::compare_and_swap: request = client.compare_and_swap(call.word, 0, value); break;
    case QueueVerb::fetch_and_add: request = client.fetch_and_add(call.word, value); break;
    case QueueVerb::send: request = client.send({value}); break;
    case QueueVerb::write_with_immediate:
      request = litmus::with_immediate(client.fill(call.word, value, call.count), 1);
      break;
  }
  request.fenced = call.is_fenced;
  request.signalled = call.is_signalled;
  request.inlined = call.is_inlined;
  return request;
}

// The last request is signalled, so the client waits for all of them.
litmus::Program posting_program(const std::vector<QueueCall>& calls, std::uint64_t party) {
  return [&calls, party](Party& client) {
    std::vector<fabric::WorkRequest> chain;
    for (std::size_t index = 0; index < calls.size(); ++index) {
      chain.push_back(make_request(client, calls[index], 10 * party + index));
      const bool is_last = index + 1 == calls.size();
      if (!is_last && !calls[index].ends_chain) continue;
      chain.back().signalled = true;
      if (!client.try_post(chain)) return;
      client.finish();
      chain.clear();
    }
  };
}

litmus::Program acting_program(const std::vector<ServerAct>& acts) {
  return [&acts](Party& server) {
    std::uint64_t seen = 0;
    for (const ServerAct act : acts) {
      switch (act) {
        case ServerAct::load: server.trial().seen.at(seen++) = server.load(1); break;
        case ServerAct::store: server.store(0, 7); break;
        case ServerAct::post_receive:
          server.host().yield();
          server.post_receive(target_words + 1);
          break;
        case ServerAct::break_connection:
          server.host().yield();
          server.trial().simulation().break_connection(litmus::client_names[0]);
          break;
        case ServerAct::revoke:
          server.host().yield();
          server.region().revoke();
          return;  // nothing can be posted any more
      }
    }
  };
}

void add_words(QueueState& state, const Party& party) {
  for (std::uint64_t word = 0; word < party.trial().stage().memory_words; ++word) {
    state.push_back(party.final_word(word));
  }
}

QueueState state_of(const QueueProgram& program, Trial& trial, sim::Outcome outcome) {
  QueueState state{static_cast<std::uint64_t>(outcome)};
  if (outcome != sim::Outcome::completed) return state;
  state.insert(state.end(), trial.seen.begin(), trial.seen.end());
  add_words(state, trial.server());
  for (std::size_t index = 0; index < program.clients.size(); ++index) {
    const Party& client = trial.client(index);
    add_words(state, client);
    state.push_back(client.completed().size());
    for (const std::uint64_t id : client.completed()) {
      state.push_back(id);
      fabric::WorkRequest request;
      request.id = id;
      state.push_back(static_cast<std::uint64_t>(client.status(request)));
    }
  }
  return state;
}

}  // namespace

QueueProgram draw_queue_program(std::uint64_t seed) {
  fabric::RandomGenerator random(seed);
  QueueProgram program;
  program.options.mtu_bytes = random.below(2) == 0 ? small_mtu_bytes : 4'096;
  program.options.late_visibility = random.below(4) == 0;
  program.options.failure_before_landing = random.below(4) == 0;
  program.options.address_order = random.below(8) == 0;
  if (random.below(2) == 0) program.options.atomic_capability = fabric::AtomicCapability::device;
  if (random.below(4) == 0) program.stage.queue_pair.max_outstanding_reads_and_atomics = 1;
  if (random.below(2) == 0) program.stage.queue_pair.receiver_not_ready_retry_count = 1;
  program.stage.memory_words = 12;
  const bool has_messages = random.below(2) == 0;
  program.receives = has_messages ? random.below(3) : 0;
  const std::uint64_t clients = 1 + random.below(2);
  for (std::uint64_t client = 0; client < clients; ++client) {
    program.clients.emplace_back();
    const std::uint64_t calls = 1 + random.below(clients == 1 ? 3 : 2);
    while (program.clients.back().size() < calls) {
      program.clients.back().push_back(draw_call(random, has_messages));
    }
  }
  program.stage.client_count = clients;
  const std::uint64_t acts = random.below(3);
  while (program.server.size() < acts) {
    program.server.push_back(static_cast<ServerAct>(random.below(5)));
  }
  return program;
}

std::string QueueProgram::describe() const {
  std::string text = fmt::format(
      "{} receives, packets of {}{}{}{}{}, {} retries", receives, options.mtu_bytes,
      options.late_visibility ? ", late" : "", options.address_order ? ", in address order" : "",
      options.atomic_capability == fabric::AtomicCapability::global ? "" : ", gaps",
      stage.queue_pair.max_outstanding_reads_and_atomics == 1 ? ", one outstanding" : "",
      stage.queue_pair.receiver_not_ready_retry_count);
  for (const auto& calls : clients) {
    text += "\n  client:";
    for (const QueueCall& call : calls) {
      constexpr std::string_view names[] = {"READ", "WRITE", "CAS", "FAA", "SEND", "WRITE_IMM"};
      text += fmt::format(" {}{}{}[{}+{}]{}", call.is_fenced ? "fenced " : "",
                          call.is_signalled ? "" : "silent ",
                          names[static_cast<std::size_t>(call.verb)], call.word, call.count,
                          call.ends_chain ? "." : ";");
    }
  }
  text += "\n  server:";
  for (const ServerAct act : server) text += fmt::format(" {}", static_cast<int>(act));
  return text;
}

void explore(const QueueProgram& program, Search& search, bool tells_lanes,
             const std::function<bool(const QueueState&)>& see) {
  SearchStrategy strategy(
      search, {.explored_from_ns = litmus::programs_start_ns, .tells_lanes = tells_lanes});
  sim::SimulationOptions options = options_for_exploration(program.options).value();
  options.step_limit = step_limit;
  litmus::Stage stage = program.stage;
  stage.prepare_server = [&program](Party& server) {
    for (std::uint64_t index = 0; index < program.receives; ++index) {
      server.post_receive(target_words + index);
    }
  };
  std::vector<litmus::Program> clients;
  for (std::size_t index = 0; index < program.clients.size(); ++index) {
    clients.push_back(posting_program(program.clients[index], index + 1));
  }
  const litmus::Program server = acting_program(program.server);
  fabric::FiberStackPool stacks;
  do {
    strategy.begin_run();
    sim::Simulation simulation(options, strategy, stacks);
    Trial trial(simulation, stage, server, clients);
    const sim::Outcome outcome = simulation.run().outcome;
    search.end_execution(outcome == sim::Outcome::step_limit);
    if (!strategy.is_ended() && !see(state_of(program, trial, outcome))) return;
  } while (search.find_next_execution());
}

}  // namespace falafel::explorer
