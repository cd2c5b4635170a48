#include "tools/scenarios/store/timeline/store_recorder.h"

#include <fmt/format.h>

#include <utility>

#include "explorer/timeline/readable.h"
#include "tools/scenarios/store/store_world.h"
#include "tools/scenarios/store/timeline/store_key_steps.h"

namespace falafel::store_scenario {
namespace {

using timeline::MarkKind;
using timeline::none;

std::string describe_safeguards(const engine::Safeguards& safeguards) {
  if (safeguards == engine::Safeguards::hardened()) return "hardened protocol";
  if (safeguards == engine::Safeguards::published()) return "published protocol";
  std::string names;
  for (const auto& safeguard : engine::safeguard_descriptions) {
    if (safeguards.*safeguard.enabled) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", safeguard.name);
  }
  return "without " + names;
}

std::string count(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace

// Passes on what a run reports.
class StoreRecorder::Listener final : public store_scenario::RunListener {
 public:
  explicit Listener(StoreRecorder& recorder) : recorder_(recorder) {}

  void observe(const sim::TraceEvent& event) override { recorder_.observe(event); }
  void introduce(const sim::Subject& subject) override { recorder_.introduce(subject); }
  void observe_pause(const sim::Pause& pause) override { recorder_.observe_pause(pause); }
  void on_memory(std::uint64_t step, const checkers::MemoryView* memory) override {
    recorder_.look_at_memory(step, memory);
  }
  void on_call(const checkers::Operation& operation) override { recorder_.call(operation); }
  void on_return(const checkers::Operation& operation, engine::Answer answer) override {
    recorder_.answer(operation, answer);
  }
  void on_scan_called(const checkers::KeyScan& scan) override { recorder_.call(scan); }
  void on_scan_returned(const checkers::KeyScan& scan, engine::Answer answer) override {
    recorder_.answer(scan, answer);
  }

 private:
  StoreRecorder& recorder_;
};

StoreRecorder::StoreRecorder(Runner& runner, const Scenario& scenario)
    : StoreRecorder(runner, scenario, std::make_unique<StoreLanes>(client_hosts(scenario))) {}

StoreRecorder::StoreRecorder(Runner& runner, const Scenario& scenario,
                             std::unique_ptr<StoreLanes> lanes)
    : Recorder(runner, scenario, std::move(lanes)),
      runner_(runner),
      scenario_(scenario),
      lanes_(static_cast<const StoreLanes&>(this->lanes())),
      memory_(scenario.geometry),
      connections_(scenario.geometry.region_count, none) {}

explorer::Run StoreRecorder::run(sim::Strategy& strategy) {
  Listener listener(*this);
  return runner_.run(scenario_, strategy, &listener);
}

std::string StoreRecorder::describe(const sim::RunResult& result) const {
  return fmt::format(
      "{}; {}, {}, {}, {} of {} bytes; {}, {:.1f} µs", describe_safeguards(scenario_.safeguards),
      count(scenario_.clients.size(), "client"), count(scenario_.operation_count(), "operation"),
      count(scenario_.geometry.table_entries, "slot"),
      count(scenario_.geometry.region_count, "region"), scenario_.geometry.region_bytes,
      count(result.steps, "step"), static_cast<double>(result.time_ns) / 1'000);
}

std::vector<timeline::KeyStep> StoreRecorder::find_key_steps(
    const timeline::Timeline& timeline, const std::vector<checkers::Judgement>& violations,
    const std::optional<explorer::CriticalStep>& critical) const {
  return StoreKeySteps(timeline).find(violations, critical);
}

timeline::Timeline StoreRecorder::finish(const sim::RunResult& result) {
  timeline::Timeline timeline = Recorder::finish(result);
  auto memory = std::make_shared<StoreMemory>();
  memory->geometry = scenario_.geometry;
  memory->memory = memory_.take();
  memory->connection_lanes = std::move(connection_lanes_);
  timeline.program_part = std::move(memory);
  return timeline;
}

// Operations

void StoreRecorder::call(const checkers::Operation& operation) {
  const bool is_at_rest = operation.client >= scenario_.clients.size();
  const std::string kind(to_string(operation.kind));
  const std::string key = timeline::readable(operation.key);
  const std::string name = fmt::format("{} \"{}\"", kind, key);
  const bool is_set = operation.kind == checkers::OperationKind::set;
  begin_operation(
      {.lane = is_at_rest ? lanes_.server() : operation.client,
       .kind = kind,
       .key = key,
       .name = name,
       .text =
           is_set ? fmt::format("{} to \"{}\"", name, timeline::readable(operation.value)) : name,
       .label = {},
       .answer = {},
       .number = operation.call_time},
      !is_at_rest);
}

void StoreRecorder::answer(const checkers::Operation& operation, engine::Answer answer) {
  const std::string label(engine::to_string(answer));
  end_operation(operation.call_time, label,
                answer == engine::Answer::found
                    ? fmt::format("{} \"{}\"", label, timeline::readable(operation.value))
                    : label);
}

void StoreRecorder::call(const checkers::KeyScan& scan) {
  begin_operation({.lane = scan.client,
                   .kind = "scan",
                   .key = {},
                   .name = "scan",
                   .text = "scan of all keys",
                   .label = {},
                   .answer = {},
                   .number = scan.call_time},
                  true);
}

void StoreRecorder::answer(const checkers::KeyScan& scan, engine::Answer answer) {
  const bool is_complete = answer == engine::Answer::found;
  const std::string label(is_complete ? "complete" : engine::to_string(answer));
  std::string text = label + "; visited";
  for (const checkers::KeyVisit& visit : scan.visits) {
    text += fmt::format(" \"{}\": \"{}\"", timeline::readable(visit.key),
                        timeline::readable(visit.value));
  }
  end_operation(scan.call_time, label, text);
}

// The server

void StoreRecorder::look_at_memory(std::uint64_t step, const checkers::MemoryView* memory) {
  if (memory != nullptr) {
    memory_.look(memory_step_, *memory, first_connection_);
    for (std::size_t region = 0; region < connections_.size(); ++region) {
      const bool is_granted = memory->regions[region].state == engine::RegionState::granted;
      connections_[region] = is_granted ? first_connection_ + memory->regions[region].client : none;
    }
  }
  memory_step_ = step;
}

// The page does not show clients' own memory.
bool StoreRecorder::shows_processor(std::uint32_t lane) const { return !lanes_.is_client(lane); }

// The server's membership moves a queue pair to the error state to fence a client; other queue
// pairs break.
void StoreRecorder::on_queue_pair_error(const sim::TraceEvent& event) {
  const bool is_fence = !lanes_.is_client(lanes_.of_queue_pair(event.subject)) &&
                        has_run_in_this_step() &&
                        lanes_.of_fiber(running_fiber()) == lanes_.membership();
  if (is_fence) {
    mark(MarkKind::fence, lanes_.membership(), "fences a client");
  } else {
    Recorder::on_queue_pair_error(event);
  }
}

// The restarted server numbers its clients from the start.
void StoreRecorder::on_host_died(std::uint32_t host) {
  Recorder::on_host_died(host);
  if (host != StoreWorld::server_host) return;
  first_connection_ = static_cast<std::uint32_t>(connection_lanes_.size());
}

void StoreRecorder::on_written(const timeline::Effect& effect) {
  const bool is_by_client = effect.kind == timeline::EffectKind::written;
  memory_.note_write(effect.offset, effect.length_bytes, is_by_client);
  if (is_by_client) note_owner(effect);
}

// The server numbers clients in its own order; the writer of a region reveals the mapping.
void StoreRecorder::note_owner(const timeline::Effect& effect) {
  const engine::Geometry& geometry = scenario_.geometry;
  if (effect.offset < geometry.region_offset(0)) return;
  const std::uint64_t region = (effect.offset - geometry.region_offset(0)) / geometry.region_bytes;
  if (region >= connections_.size() || connections_[region] == none) return;
  const std::uint32_t connection = connections_[region];
  if (connection_lanes_.size() <= connection) {
    connection_lanes_.resize(connection + std::size_t{1}, none);
  }
  if (connection_lanes_[connection] == none) connection_lanes_[connection] = effect.lane;
}

}  // namespace falafel::store_scenario
