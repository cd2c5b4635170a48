#include "fabric/sim/network/request_times.h"

#include <algorithm>

#include "fabric/sim/network/responder.h"

namespace falafel::sim::timing {

using fabric::Opcode;

namespace {

bool carries_data(const Request& request) { return request.is_write() || request.is_send(); }

}  // namespace

void RequestTimes::make_room(std::uint64_t requests) {
  progress_.make_room(queue_.released(), queue_.posted(), requests);
}

void RequestTimes::set_out_until(std::uint64_t end) {
  set_out_end_ = std::max(set_out_end_, queue_.released());
  for (; set_out_end_ < end; ++set_out_end_) {
    progress_[set_out_end_] = {};
    if (!queue_.at(set_out_end_).is_done()) set_out(queue_.at(set_out_end_));
  }
}

std::uint64_t RequestTimes::now_ps() const { return to_ps(connection_.world().trace.time_ns()); }

std::uint64_t RequestTimes::packet_bytes(const Request& request, std::uint64_t position) const {
  return std::min(connection_.world().options.mtu_bytes, request.work.length_bytes - position);
}

// The time until the card has the state of the queue pair.
std::uint64_t RequestTimes::fetch_ps(const Side& side) const {
  const Profile& profile = costs_.profile();
  if (side.context == nullptr) return 0;
  return side.card.queue_pairs.misses(*side.context, profile.cached_queue_pairs)
             ? profile.queue_pair_miss_ps
             : 0;
}

// How long the data of a request and its headers occupy the link.
std::uint64_t RequestTimes::link_ps(const Request& request) const {
  const Profile& profile = costs_.profile();
  const std::uint64_t mtu_bytes = connection_.world().options.mtu_bytes;
  const std::uint64_t bytes = carries_data(request) ? request.work.length_bytes : 0;
  const std::uint64_t packets = std::max<std::uint64_t>(1, (bytes + mtu_bytes - 1) / mtu_bytes);
  const std::uint64_t own_bytes = request.is_atomic() ? fabric::word_bytes : 0;
  return (bytes + own_bytes + packets * profile.header_bytes) * profile.link_ps_per_byte;
}

void RequestTimes::set_out(const Request& request) {
  const Profile& profile = costs_.profile();
  Progress& progress = progress_[request.place];
  const std::uint64_t fetch = fetch_ps({card_, &context_});
  const std::uint64_t posted_ps = to_ps(connection_.world().local_time_ns());
  const std::uint64_t interval = requester_interval_ps(request);
  std::uint64_t leaves_ps =
      requester_of(request).end(now_ps(), posted_ps + profile.doorbell_ps, interval + fetch) -
      interval + profile.requester_ps;
  const std::uint64_t bytes = carries_data(request) ? request.work.length_bytes : 0;
  const std::uint64_t first_bytes = bytes > 0 ? packet_bytes(request, 0) : 0;
  if (bytes > 0) {  // packets leave as soon as the card has fetched them
    leaves_ps = card_.memory_reads.begin(now_ps(), leaves_ps, bytes * profile.bus_ps_per_byte) +
                first_bytes * profile.bus_ps_per_byte;
  }
  const std::uint64_t own_bytes = request.is_atomic() ? fabric::word_bytes : 0;
  const std::uint64_t whole_link_ps = link_ps(request);
  const std::uint64_t first_link_ps =
      (first_bytes + own_bytes + profile.header_bytes) * profile.link_ps_per_byte;
  const std::uint64_t begin_ps = card_.outbound.begin(now_ps(), leaves_ps, whole_link_ps);
  progress.packet_ps =
      begin_ps + (connection_.is_stream() ? whole_link_ps : first_link_ps) + profile.wire_ps;
  progress.due_ns = to_ns(progress.packet_ps);
  progress.completes_ns =
      to_ns(connection_.is_stream() ? posted_ps : begin_ps + whole_link_ps + profile.completion_ps);
}

// A datagram names its receiver; without one, it is lost on the way.
RequestTimes::Side RequestTimes::responder_of(const Request& request) const {
  const Responder* responder = connection_.responder_or_null();
  if (connection_.is_datagram()) {
    responder = connection_.world().find_responder(request.work.destination.queue_pair_number);
  }
  if (responder == nullptr) return {card_, nullptr};
  RequestTimes& others = *responder->connection().request_times();
  return {others.card_, &others.context_};
}

// A message stream passes through the card as its kernel's datagrams do.
bool RequestTimes::has_pipelines_of_messages(const Request& request) const {
  return request.is_send() && costs_.profile().has_message_pipelines && !connection_.is_stream();
}

Resource& RequestTimes::requester_of(const Request& request) const {
  return has_pipelines_of_messages(request) ? card_.messages_out : card_.requester;
}

Resource& RequestTimes::pipeline_of(const Request& request, Card& responder) const {
  return has_pipelines_of_messages(request) ? responder.messages_in : responder.responder;
}

std::uint64_t RequestTimes::requester_interval_ps(const Request& request) const {
  const Profile& profile = costs_.profile();
  return has_pipelines_of_messages(request) ? profile.message_send_interval_ps
                                            : profile.requester_interval_ps;
}

std::uint64_t RequestTimes::interval_ps(const Request& request) const {
  const Profile& profile = costs_.profile();
  if (request.is_read()) {
    return profile.read_interval_ps + packet_bytes(request, 0) * profile.read_interval_ps_per_byte;
  }
  if (request.is_atomic()) return profile.atomic_interval_ps;
  if (has_pipelines_of_messages(request)) return profile.message_receive_interval_ps;
  return request.is_send() ? profile.send_interval_ps : profile.write_interval_ps;
}

void RequestTimes::arrive(const Request& request) {
  const Profile& profile = costs_.profile();
  Progress& progress = progress_[request.place];
  progress.stage = Stage::at_responder;
  const Side side = responder_of(request);
  if (connection_.is_stream()) {
    place_message(request, progress);
    return;
  }
  if (carries_data(request)) {
    place_packet(request, progress, progress.packet_ps);
    return;
  }
  const std::uint64_t link_ps = profile.header_bytes * profile.link_ps_per_byte;
  const std::uint64_t arrived_ps =
      side.card.inbound.end(now_ps(), progress.packet_ps - link_ps, link_ps);
  const std::uint64_t fetch = fetch_ps(side);
  const std::uint64_t interval = interval_ps(request);
  const std::uint64_t begin_ps =
      side.card.responder.end(now_ps(), arrived_ps, interval + fetch) - interval;
  if (request.is_read()) {
    read_packet(request, progress, begin_ps + profile.read_ps);
    return;
  }
  progress.packet_ps =
      side.card.begin_atomic(request.work.remote.offset, begin_ps, profile.word_interval_ps) +
      profile.atomic_ps;
  progress.due_ns = to_ns(progress.packet_ps);
}

// The responder fetches the next packet of a READ from its memory.
void RequestTimes::read_packet(const Request& request, Progress& progress, std::uint64_t from_ps) {
  const std::uint64_t bytes = packet_bytes(request, progress.effective_bytes);
  progress.packet_ps = responder_of(request).card.memory_reads.end(
      now_ps(), from_ps, bytes * costs_.profile().bus_ps_per_byte);
  progress.due_ns = to_ns(progress.packet_ps);
}

// The next packet of a WRITE or SEND arrives, and the responder puts it into its memory.
void RequestTimes::place_packet(const Request& request, Progress& progress,
                                std::uint64_t arrival_ps) {
  const Profile& profile = costs_.profile();
  const Side side = responder_of(request);
  const std::uint64_t bytes = packet_bytes(request, progress.effective_bytes);
  const std::uint64_t link_ps = (bytes + profile.header_bytes) * profile.link_ps_per_byte;
  progress.begin_ps = side.card.inbound.end(now_ps(), arrival_ps - link_ps, link_ps);
  if (progress.effective_bytes == 0) {
    const std::uint64_t fetch = fetch_ps(side);
    const std::uint64_t interval = interval_ps(request);
    progress.begin_ps =
        pipeline_of(request, side.card).end(now_ps(), progress.begin_ps, interval + fetch) -
        interval;
  }
  progress.packet_ps = arrival_ps;
  progress.due_ns = to_ns(side.card.memory_writes.end(
      now_ps(), progress.begin_ps + profile.placement_ps, bytes * profile.bus_ps_per_byte));
}

// All of a message has arrived, and the kernel wakes the program that receives it.
void RequestTimes::place_message(const Request& request, Progress& progress) {
  const Profile& profile = costs_.profile();
  const Side side = responder_of(request);
  const std::uint64_t whole_link_ps = link_ps(request);
  const std::uint64_t arrived_ps =
      side.card.inbound.end(now_ps(), progress.packet_ps - whole_link_ps, whole_link_ps);
  const std::uint64_t begin_ps =
      side.card.responder.end(now_ps(), arrived_ps, profile.send_interval_ps) -
      profile.send_interval_ps;
  const std::uint64_t placed_ps =
      side.card.memory_writes.end(now_ps(), begin_ps + profile.placement_ps,
                                  request.work.length_bytes * profile.bus_ps_per_byte);
  progress.due_ns = to_ns(placed_ps + profile.stream_wake_ps);
}

void RequestTimes::take_effect(const Request& request) {
  Progress& progress = progress_[request.place];
  if (progress.stage == Stage::answered) {  // words of a WRITE that has been answered
    progress.due_ns = connection_.world().trace.time_ns();
  } else if (request.is_answered()) {
    answer(request, progress);
  } else {
    go_on(request, progress);
  }
}

// The way back: data, or an acknowledgement.
std::uint64_t RequestTimes::return_ps(Card& responder, std::uint64_t from_ps, std::uint64_t bytes) {
  const Profile& profile = costs_.profile();
  const std::uint64_t link_ps = (bytes + profile.header_bytes) * profile.link_ps_per_byte;
  const std::uint64_t arrival_ps =
      responder.outbound.end(now_ps(), from_ps, link_ps) + profile.wire_ps;
  const std::uint64_t arrived_ps = card_.inbound.end(now_ps(), arrival_ps - link_ps, link_ps);
  return card_.memory_writes.end(now_ps(), arrived_ps, bytes * profile.bus_ps_per_byte);
}

void RequestTimes::answer(const Request& request, Progress& progress) {
  const Profile& profile = costs_.profile();
  const std::uint64_t now_ns = connection_.world().trace.time_ns();
  progress.stage = Stage::answered;
  progress.due_ns = now_ns;
  if (!connection_.is_reliable()) return;  // it completed when it was sent
  Card& responder = responder_of(request).card;
  std::uint64_t back_ps = 0;
  if (carries_data(request)) {
    const std::uint64_t bytes = packet_bytes(request, progress.effective_bytes);
    const std::uint64_t acknowledged_ps = progress.begin_ps +
                                          (request.is_send() ? profile.send_ps : profile.write_ps) +
                                          bytes * profile.acknowledge_ps_per_byte;
    back_ps = std::max(return_ps(responder, acknowledged_ps, 0), to_ps(now_ns));
  } else {
    const bool is_refused = request.status != fabric::CompletionStatus::success;
    const std::uint64_t bytes =
        is_refused ? 0 : request.work.length_bytes - progress.effective_bytes;
    back_ps = return_ps(responder, std::max(progress.packet_ps, to_ps(now_ns) - 999), bytes);
    if (profile.conditions.polls_buffers && !is_refused) progress.lands_ns = to_ns(back_ps);
  }
  World& world = connection_.world();
  const std::uint64_t late_ps =
      costs_.lateness_ps([&world] { return world.choose(ChoiceKind::program, 0); });
  progress.completes_ns = to_ns(back_ps + profile.completion_ps + late_ps);
}

// More packets follow, or the request tries again.
void RequestTimes::go_on(const Request& request, Progress& progress) {
  const Profile& profile = costs_.profile();
  const bool is_transfer = request.is_read() || request.is_write();
  const std::uint64_t arrived_bytes =
      is_transfer && request.has_started() ? request.placement.arrived_bytes() : 0;
  const std::uint64_t now_ns = connection_.world().trace.time_ns();
  if (arrived_bytes == progress.effective_bytes) {
    const bool moves_words =
        is_transfer && request.has_started() && request.placement.has_unplaced();
    progress.due_ns = now_ns + (moves_words ? 0 : to_ns(profile.retry_ps));
    return;
  }
  const std::uint64_t bytes = arrived_bytes - progress.effective_bytes;
  progress.effective_bytes = arrived_bytes;
  if (arrived_bytes == request.work.length_bytes) {  // words are left, or an immediate number
    progress.due_ns = now_ns;
  } else if (request.is_read()) {
    return_ps(responder_of(request).card, progress.packet_ps, bytes);
    read_packet(request, progress, progress.packet_ps + profile.read_gap_ps);
  } else {
    const std::uint64_t next_bytes = packet_bytes(request, arrived_bytes);
    place_packet(request, progress,
                 progress.packet_ps +
                     next_bytes * std::max(profile.bus_ps_per_byte, profile.link_ps_per_byte));
  }
}

std::uint64_t RequestTimes::completion_due_ns() const {
  if (connection_.is_dead()) return 0;  // a flush
  if (queue_.oldest_place() >= set_out_end_) return fabric::never_ns;
  return progress_[queue_.oldest_place()].completes_ns;
}

RequestTimes::Next RequestTimes::next(std::uint64_t movable, bool can_complete) const {
  Next next;
  if (can_complete) {
    next.due_ns = completion_due_ns();
    if (next.due_ns != fabric::never_ns) next.step = Step::completion;
  }
  const auto consider = [&next](Step step, std::uint64_t place, std::uint64_t due_ns) {
    if (due_ns < next.due_ns) next = {.step = step, .place = place, .due_ns = due_ns};
  };
  for (std::uint64_t place = queue_.released(); place < set_out_end_; ++place) {
    const Progress& progress = progress_[place];
    if (progress.lands_ns > 0) consider(Step::landing, place, progress.lands_ns);
    if (queue_.at(place).is_done()) continue;
    const std::uint64_t index = place - queue_.released();
    if (progress.stage == Stage::on_its_way) {
      consider(Step::arrival, place, progress.due_ns);
    } else if (index < 64 && (movable >> index & 1U) != 0) {
      consider(Step::effect, place, progress.due_ns);
    }
  }
  return next;
}

}  // namespace falafel::sim::timing
