#include "tools/scenarios/store/silence_watch.h"

#include <algorithm>

#include "engine/server/client_channel.h"
#include "tools/scenarios/store/parties.h"

namespace falafel::store_scenario {

using checkers::ServerQuestion;
using engine::ControlMessage;
using engine::MessageKind;

namespace {

// The server reads a limited number of completions at a time.
constexpr std::uint32_t readings_of_a_completion = 8;

}  // namespace

SilenceWatch::SilenceWatch(const Scenario& scenario, const StoreWorld& world)
    : world_(world),
      options_(scenario.simulation),
      is_judged_(scenario.safeguards == engine::Safeguards::hardened() &&
                 !scenario.simulation.processor_preemption),
      silence_(scenario.heartbeat_timeout_ns) {}

void SilenceWatch::introduce(const sim::Subject& subject) {
  if (!is_judged_) return;
  const bool is_of_server = subject.host == Parties::server_host;
  if (subject.kind == sim::SubjectKind::fiber && is_of_server) {
    if (subject.name == "messages") readers_.insert(subject.number);
    if (subject.name == "membership") watchers_.insert(subject.number);
  }
  if (subject.kind != sim::SubjectKind::queue_pair) return;
  if (is_of_server) {
    server_queue_pairs_.insert(subject.number);
    new_queue_pairs_[subject.number] = now_ns_;
  }
  if (subject.host == Parties::hostile_host) hostile_queue_pairs_.insert(subject.number);
}

void SilenceWatch::observe_pause(const sim::Pause& pause) {
  if (pause.subject.kind != sim::SubjectKind::host) return;
  if (pause.subject.number == StoreWorld::server_host) is_server_paused_ = pause.begins;
}

void SilenceWatch::observe(const sim::TraceEvent& event) {
  if (!is_judged_) return;
  now_ns_ = event.time_ns;
  admit_new_clients();
  switch (event.kind) {
    case sim::EventKind::request_posted: return on_posted(event);
    case sim::EventKind::request_completed: return on_completed(event);
    case sim::EventKind::message_delivered: return on_delivered(event);
    case sim::EventKind::fiber_runs: return on_fiber_runs(event);
    case sim::EventKind::queue_pair_error: return on_error(event);
    case sim::EventKind::time_jump: return on_jump(event, !is_server_paused_);
    case sim::EventKind::fault: return on_jump(event, false);
    case sim::EventKind::host_died:
      if (event.subject != StoreWorld::server_host) return;
      silence_.on_server_died();
      channels_.clear();
      server_side_.clear();
      new_queue_pairs_.clear();
      is_server_paused_ = false;
      return;
    default: return;
  }
}

// The server connects to itself, too. Only the other queue pairs belong to clients.
void SilenceWatch::admit_new_clients() {
  for (auto next = new_queue_pairs_.begin(); next != new_queue_pairs_.end();) {
    const auto [queue_pair, since_ns] = *next;
    const auto peer = world_.peer_of(queue_pair);
    if (!peer) {
      ++next;
      continue;
    }
    next = new_queue_pairs_.erase(next);
    if (server_queue_pairs_.contains(*peer)) continue;
    channels_[queue_pair];
    server_side_[*peer] = queue_pair;
    silence_.on_connected(queue_pair, hostile_queue_pairs_.contains(*peer), since_ns);
  }
}

// The server waits until one of its buffers is free before it sends. If one was free anyway, it
// asked just now; otherwise at any time before.
void SilenceWatch::on_posted(const sim::TraceEvent& event) {
  const auto found = channels_.find(event.subject);
  if (found == channels_.end()) return;
  Channel& channel = found->second;
  const bool has_waited = channel.buffers_in_use >= engine::ClientChannel::send_count;
  ++channel.buffers_in_use;
  channel.in_flight.push_back(
      {.place = event.place, .first_ns = has_waited ? 0 : now_ns_, .last_ns = now_ns_});
}

void SilenceWatch::on_completed(const sim::TraceEvent& event) {
  const auto found = channels_.find(event.subject);
  if (found != channels_.end()) found->second.completed.push_back(readings_of_a_completion);
}

void SilenceWatch::on_delivered(const sim::TraceEvent& event) {
  const auto message = engine::from_bytes<ControlMessage>(event.data);
  if (const auto found = channels_.find(event.subject); found != channels_.end()) {
    std::vector<Sent>& in_flight = found->second.in_flight;
    const auto sent = std::ranges::find(in_flight, event.place, &Sent::place);
    if (sent == in_flight.end()) return;
    const Sent delivered = *sent;
    in_flight.erase(sent);
    if (message) on_question(event.subject, found->second, *message, delivered);
    return;
  }
  const auto side = server_side_.find(event.subject);
  if (side == server_side_.end()) return;
  silence_.on_message(side->second, now_ns_);
  if (message) on_answer(side->second, channels_.at(side->second), *message);
}

void SilenceWatch::on_question(std::uint32_t client, Channel& channel,
                               const ControlMessage& message, const Sent& sent) {
  switch (message.kind) {
    case MessageKind::grant_region: channel.regions.insert(message.incarnation); return;
    case MessageKind::ask_for_quiescence:
      channel.quiescence = message.epoch;
      return silence_.on_asked(client, ServerQuestion::quiescence, sent.first_ns, sent.last_ns);
    case MessageKind::ask_for_end:
      channel.end = message.epoch;
      return silence_.on_asked(client, ServerQuestion::end, sent.first_ns, sent.last_ns);
    case MessageKind::return_regions:
      if (channel.regions.empty() || *channel.regions.begin() > message.incarnation) return;
      channel.regions_up_to = message.incarnation;
      return silence_.on_asked(client, ServerQuestion::regions, sent.first_ns, sent.last_ns);
    default: return;
  }
}

void SilenceWatch::on_answer(std::uint32_t client, Channel& channel,
                             const ControlMessage& message) {
  switch (message.kind) {
    case MessageKind::goodbye: return silence_.on_left(client);
    case MessageKind::heartbeat:
      if (message.epoch == channel.quiescence) {
        silence_.on_answered(client, ServerQuestion::quiescence);
      }
      return;
    case MessageKind::operations_ended:
      if (message.epoch == channel.end) silence_.on_answered(client, ServerQuestion::end);
      return;
    case MessageKind::release_region:
      channel.regions.erase(message.incarnation);
      if (channel.regions.empty() || *channel.regions.begin() > channel.regions_up_to) {
        silence_.on_answered(client, ServerQuestion::regions);
      }
      return;
    default: return;
  }
}

void SilenceWatch::on_fiber_runs(const sim::TraceEvent& event) {
  if (readers_.contains(event.subject)) {
    silence_.on_messages_read(now_ns_);
    for (auto& [queue_pair, channel] : channels_) {
      for (std::uint32_t& readings_left : channel.completed) --readings_left;
      channel.buffers_in_use -= std::erase(channel.completed, 0U);
    }
  }
  if (watchers_.contains(event.subject)) silence_.on_look(now_ns_, event.step);
}

// The fiber that looks for silent clients moves their queue pairs to the error state. Anybody else
// does so for another reason.
void SilenceWatch::on_error(const sim::TraceEvent& event) {
  const auto found = channels_.find(event.subject);
  if (found == channels_.end()) return;
  const auto fiber = world_.running_fiber();
  if (fiber && watchers_.contains(*fiber)) {
    const Channel& channel = found->second;
    const bool may_have_asked = channel.buffers_in_use >= engine::ClientChannel::send_count;
    std::uint64_t asked_ns = may_have_asked ? 0 : fabric::never_ns;
    for (const Sent& sent : channel.in_flight) asked_ns = std::min(asked_ns, sent.first_ns);
    silence_.on_fenced(event.subject, now_ns_, asked_ns, event.step);
  } else {
    silence_.on_left(event.subject);
  }
  std::erase_if(server_side_, [&](const auto& side) { return side.second == event.subject; });
  channels_.erase(found);
}

// A latency spike makes time pass although there is something to do.
void SilenceWatch::on_jump(const sim::TraceEvent& event, bool has_nothing_to_do) {
  const std::uint64_t jumped_ns = event.time_ns - event.step * options_.step_duration_ns;
  if (has_nothing_to_do) silence_.on_waited(jumped_ns - jumped_ns_);
  jumped_ns_ = jumped_ns;
}

}  // namespace falafel::store_scenario
