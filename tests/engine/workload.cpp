#include "tests/engine/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/layout/container.h"

namespace falafel::engine_test {

std::string describe(const Workload& workload) {
  const engine::ServerOptions& server = workload.store.server;
  const engine::Geometry& geometry = server.geometry;
  std::string text = fmt::format(
      "seed {}, {} clients of {} fibers, {} keys ({} own each), unit_bytes {}, table_entries {}, "
      "region_bytes {}, region_count {}, mature_bytes {}, mature_space_count {}, cleanup_percent "
      "{}, cleanup_interval_ns "
      "{}, "
      "pipelined_updates {}",
      workload.store.seed, workload.clients, workload.fibers, workload.keys.size(),
      workload.own_keys, geometry.unit_bytes, geometry.table_entries, geometry.region_bytes,
      geometry.region_count, geometry.mature_bytes, geometry.mature_space_count,
      server.cleanup_percent, server.cleanup_interval_ns, server.pipelined_updates);
  const engine::ClientOptions& client = workload.store.client;
  text += fmt::format(", chunk_entries {}, container_bytes {}, containers {}, adaptive {}",
                      client.readahead.chunk_entries, client.readahead.container_bytes,
                      client.readahead.containers, client.readahead.adaptive);
  for (const sim::OptionDescription& option : sim::option_descriptions()) {
    const std::string value = option.get(workload.store.simulation);
    if (value != option.get({})) text += fmt::format(", {} {}", option.name, value);
  }
  return text;
}

WorkloadRun::WorkloadRun(const Workload& workload, fabric::FiberStackPool& stacks)
    : workload_(workload), store_(workload.store, stacks), keys_(workload.keys.size()) {
  for (std::size_t index = workload.actors() * workload.own_keys; index < keys_.size(); ++index) {
    keys_[index].is_shared = true;
  }
  for (std::size_t number = 0; number < workload.clients; ++number) {
    store_.add_client(
        [this, number](fabric::Host& host, Client& client) { run_client(host, client, number); });
  }
}

StoreRun WorkloadRun::run() {
  StoreRun run = store_.run();
  judge_contents(run);
  return run;
}

void WorkloadRun::run_client(fabric::Host& host, Client& client, std::size_t number) {
  std::vector<fabric::FiberId> others;
  const std::size_t first = number * workload_.fibers;
  for (std::size_t fiber = 1; fiber < workload_.fibers; ++fiber) {
    others.push_back(host.spawn(
        {.name = "actor"}, [this, &client, actor = first + fiber] { run_actor(client, actor); }));
  }
  run_actor(client, first);
  for (const fabric::FiberId fiber : others) host.join(fiber);
}

void WorkloadRun::run_actor(Client& client, std::size_t actor) {
  for (const WorkloadOperation& operation : workload_.operations[actor]) {
    const std::size_t index = key_index(actor, operation.key);
    switch (operation.kind) {
      case OperationKind::get: get(client, index); break;
      case OperationKind::set: set(client, index, operation.value_permille); break;
      case OperationKind::remove: remove(client, index); break;
    }
  }
}

std::size_t WorkloadRun::key_index(std::size_t actor, std::size_t key) const {
  const std::size_t first_shared = workload_.actors() * workload_.own_keys;
  const std::size_t choice = key % (workload_.own_keys + keys_.size() - first_shared);
  return choice < workload_.own_keys ? actor * workload_.own_keys + choice
                                     : first_shared + choice - workload_.own_keys;
}

void WorkloadRun::require(bool condition, std::size_t index, std::string_view what) {
  if (!condition) store_.require(false, fmt::format("key {}: {}", index, what));
}

engine::GetResult WorkloadRun::get_either_way(Client& client, std::size_t index) {
  const Bytes& key = workload_.keys[index];
  if (++gets_ % 2 == 0) return client.get(key);
  const std::uint64_t longest_bytes =
      engine::ValueBuffer::bytes_for(key.size(), 0) + workload_.store.server.geometry.region_bytes;
  const std::uint64_t length_bytes = gets_ * 37 % longest_bytes + 1;
  const auto buffer = client.allocate_buffer(length_bytes);
  if (!buffer) {
    require(false, index, buffer.error().detail);
    return {};
  }
  engine::GetResult result = client.get(key, *buffer);
  if (result.place) {
    const auto value = buffer->value_at(*result.place);
    result.value.assign(value.begin(), value.end());
  } else if (result.answer == Answer::found) {
    require(engine::container_bytes(key.size(), result.value.size()) > length_bytes, index,
            "a value is not in the buffer although it fits");
  }
  return result;
}

void WorkloadRun::get(Client& client, std::size_t index) {
  const engine::GetResult result = get_either_way(client, index);
  const Key& key = keys_[index];
  const bool is_found = result.answer == Answer::found;
  require(is_found || result.answer == Answer::not_found, index,
          fmt::format("GET answers {}", to_string(result.answer)));
  if (key.is_shared) {
    require(!is_found || key.values.contains(result.value), index,
            "GET finds a value that nobody set");
    return;
  }
  require(is_found == key.stored.has_value(), index,
          fmt::format("GET answers {}, but its owner {}", to_string(result.answer),
                      key.stored ? "stored it" : "did not store it"));
  require(!is_found || result.value == key.stored, index, "GET finds another value");
}

void WorkloadRun::set(Client& client, std::size_t index, std::uint32_t value_permille) {
  Key& key = keys_[index];
  const Bytes value = next_value(index, value_permille);
  const bool fits = fits_region(index, value);
  if (fits) key.values.insert(value);
  const Answer answer = client.set(workload_.keys[index], value).answer;
  const bool is_right = answer == Answer::stored            ? fits
                        : answer == Answer::value_too_large ? !fits
                        : answer == Answer::table_full      ? may_be_full(index)
                        : answer == Answer::out_of_memory   ? may_run_out_of_memory()
                                                            : false;
  require(is_right, index,
          fmt::format("SET of {} bytes answers {}", value.size(), to_string(answer)));
  if (answer == Answer::stored) key.stored = value;
}

void WorkloadRun::remove(Client& client, std::size_t index) {
  Key& key = keys_[index];
  const Answer answer = client.remove(workload_.keys[index]).answer;
  require(answer == Answer::deleted || answer == Answer::not_found, index,
          fmt::format("DELETE answers {}", to_string(answer)));
  if (key.is_shared) return;
  require((answer == Answer::deleted) == key.stored.has_value(), index,
          fmt::format("DELETE answers {}, but its owner {}", to_string(answer),
                      key.stored ? "stored it" : "did not store it"));
  key.stored.reset();
}

// The value starts with a unique number if there is room for it.
Bytes WorkloadRun::next_value(std::size_t index, std::uint32_t value_permille) {
  const std::uint64_t without_value = engine::container_bytes(workload_.keys[index].size(), 0);
  const std::uint64_t region_bytes = workload_.store.server.geometry.region_bytes;
  const std::uint64_t room = region_bytes - std::min(region_bytes, without_value);
  Bytes value(room * value_permille / 1'000, static_cast<std::byte>(index));
  ++sets_;
  if (!value.empty()) {
    std::memcpy(value.data(), &sets_, std::min(value.size(), sizeof sets_));
  }
  return value;
}

bool WorkloadRun::fits_region(std::size_t index, const Bytes& value) const {
  return engine::container_bytes(workload_.keys[index].size(), value.size()) <=
         workload_.store.server.geometry.region_bytes;
}

// The actors have tried enough other keys to fill the table, including deleted ones.
bool WorkloadRun::may_be_full(std::size_t index) const {
  std::uint64_t others = 0;
  for (std::size_t other = 0; other < keys_.size(); ++other) {
    others += other != index && !keys_[other].values.empty() ? 1 : 0;
  }
  return others >= workload_.store.server.geometry.table_entries;
}

// Memory must suffice under two conditions. First, each client can have a region, the next one, and
// one for each operation in progress, while two more are collected. Second, a mature space has room
// for every key in a container of a region's size, in addition to all regions. Blocks may be full
// earlier, because the rest of a block may be too short for a container.
bool WorkloadRun::may_run_out_of_memory() const {
  const engine::Geometry& geometry = workload_.store.server.geometry;
  return geometry.region_count < workload_.clients * (2 + workload_.fibers) + 2 ||
         geometry.has_blocks() ||
         geometry.mature_bytes < (keys_.size() + geometry.region_count) * geometry.region_bytes;
}

void WorkloadRun::judge_contents(StoreRun& run) const {
  const auto complain = [&](std::size_t index, std::string_view what) {
    run.problems.push_back(fmt::format("in the end key {} {}", index, what));
  };
  std::size_t known = 0;
  for (std::size_t index = 0; index < keys_.size(); ++index) {
    const Key& key = keys_[index];
    const auto found = run.state.contents.find(workload_.keys[index]);
    const bool is_there = found != run.state.contents.end();
    known += is_there ? 1 : 0;
    if (is_there && !key.values.contains(found->second)) {
      complain(index, "has a value that nobody set");
    }
    if (key.is_shared) continue;
    if (is_there != key.stored.has_value()) complain(index, is_there ? "is there" : "is lost");
    if (is_there && key.stored && found->second != *key.stored) complain(index, "is out of date");
  }
  if (known != run.state.contents.size()) {
    run.problems.emplace_back("in the end there are keys that nobody set");
  }
}

}  // namespace falafel::engine_test
