#include "tools/store_scenario/story.h"

#include <fmt/format.h>

#include <cstring>

#include "checkers/memory_view.h"
#include "fabric/work_request.h"
#include "tools/store_scenario/store_world.h"

namespace falafel::store_scenario {
namespace {

engine::Entry entry_in(std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return engine::Entry(word);
}

}  // namespace

void Story::introduce(const sim::Subject& subject) {
  if (subject.kind == sim::SubjectKind::queue_pair) {
    queue_pairs_[subject.number] = subject.host;
  } else {
    fibers_[subject.number] = fmt::format("{} ({})", subject.host, subject.name);
  }
}

std::string Story::client(std::uint32_t number) const {
  return number < scenario_.clients.size() ? fmt::format("client {}", number) : "at rest";
}

std::string Story::queue_pair(std::uint32_t number) const {
  const auto found = queue_pairs_.find(number);
  return found == queue_pairs_.end() ? fmt::format("queue pair {}", number) : found->second;
}

void Story::tell(const sim::TraceEvent& event, std::string who, std::string text) {
  lines_.push_back({.step = event.step,
                    .time_ns = event.time_ns,
                    .who = std::move(who),
                    .text = std::move(text)});
}

void Story::on_call(const checkers::Operation& operation) {
  std::string text =
      fmt::format("calls {} {}", to_string(operation.kind), checkers::quote(operation.key));
  if (operation.kind == checkers::OperationKind::set) {
    text += fmt::format(" to {}", checkers::quote(operation.value));
  }
  lines_.push_back({.step = step_,
                    .time_ns = time_ns_,
                    .who = client(operation.client),
                    .text = std::move(text)});
}

void Story::on_return(const checkers::Operation& operation, engine::Answer answer) {
  std::string text = fmt::format("{} {} returns: {}", to_string(operation.kind),
                                 checkers::quote(operation.key), engine::to_string(answer));
  if (answer == engine::Answer::found) {
    text += fmt::format(" {}", checkers::quote(operation.value));
  }
  lines_.push_back({.step = step_,
                    .time_ns = time_ns_,
                    .who = client(operation.client),
                    .text = std::move(text)});
}

std::string Story::place(std::uint64_t offset) const {
  const engine::Geometry& geometry = scenario_.geometry;
  if (offset < engine::Geometry::status_line_offset()) return "the superblock";
  if (offset < engine::Geometry::stand_in_offset()) return "the status line";
  if (offset < engine::Geometry::table_offset()) return "the stand-in";
  if (offset < engine::Geometry::table_offset() + geometry.table_entries * engine::entry_bytes) {
    return fmt::format("slot {}",
                       (offset - engine::Geometry::table_offset()) / engine::entry_bytes);
  }
  for (std::uint64_t region = 0; region < geometry.region_count; ++region) {
    const std::uint64_t begin = geometry.region_offset(region);
    if (offset >= begin && offset < begin + geometry.region_bytes) {
      return fmt::format("{} (region {}, byte {})", offset, region, offset - begin);
    }
  }
  for (std::uint32_t space = 0; space < engine::mature_space_count; ++space) {
    const std::uint64_t begin = geometry.mature_offset(space);
    if (offset >= begin && offset < begin + geometry.mature_bytes) {
      return fmt::format("{} (mature space {}, byte {})", offset, space, offset - begin);
    }
  }
  return fmt::format("{}", offset);
}

// Describes entries individually, and containers only by their location.
std::string Story::describe_words(const sim::TraceEvent& event) const {
  const std::uint64_t table_end =
      engine::Geometry::table_offset() + scenario_.geometry.table_entries * engine::entry_bytes;
  const bool is_table =
      event.offset >= engine::Geometry::table_offset() && event.offset < table_end;
  if (!is_table) return fmt::format("{} bytes at {}", event.data.size(), place(event.offset));
  std::string text;
  for (std::size_t position = 0; position + engine::entry_bytes <= event.data.size();
       position += engine::entry_bytes) {
    text +=
        fmt::format("{}{}: {}", position == 0 ? "" : "; ", place(event.offset + position),
                    checkers::describe(entry_in(event.data.subspan(position)), scenario_.geometry));
  }
  return text;
}

void Story::observe(const sim::TraceEvent& event) {
  step_ = event.step;
  time_ns_ = event.time_ns;
  const engine::Geometry& geometry = scenario_.geometry;
  switch (event.kind) {
    case sim::EventKind::fiber_runs: running_ = event.subject; break;
    case sim::EventKind::words_read:
      tell(event, queue_pair(event.subject), "READ returns " + describe_words(event));
      break;
    case sim::EventKind::words_written:
      tell(event, queue_pair(event.subject), "WRITE places " + describe_words(event));
      break;
    case sim::EventKind::atomic_read:
      tell(event, queue_pair(event.subject),
           fmt::format("CAS reads {}: {}", place(event.offset),
                       checkers::describe(engine::Entry(event.word), geometry)));
      break;
    case sim::EventKind::atomic_written:
      tell(event, queue_pair(event.subject),
           event.word == event.previous_word
               ? fmt::format("CAS fails on {}: {}", place(event.offset),
                             checkers::describe(engine::Entry(event.word), geometry))
               : fmt::format("CAS of {}: {} becomes {}", place(event.offset),
                             checkers::describe(engine::Entry(event.previous_word), geometry),
                             checkers::describe(engine::Entry(event.word), geometry)));
      break;
    case sim::EventKind::message_delivered:
      tell(event, queue_pair(event.subject), "the message arrives");
      break;
    case sim::EventKind::request_completed:
      if (event.detail != static_cast<std::uint8_t>(fabric::CompletionStatus::success)) {
        tell(event, queue_pair(event.subject),
             fmt::format("a request completes: {}",
                         to_string(static_cast<fabric::CompletionStatus>(event.detail))));
      }
      break;
    case sim::EventKind::access_refused:
      tell(event, queue_pair(event.subject), "a request is refused at " + place(event.offset));
      break;
    case sim::EventKind::queue_pair_error:
      tell(
          event, queue_pair(event.subject),
          event.detail == 0 ? "the queue pair enters the error state" : "the queue pair is closed");
      break;
    case sim::EventKind::processor_access:
      tell(event, fibers_[running_],
           event.data.empty() ? fmt::format("the processor stores {} in {}",
                                            checkers::describe(engine::Entry(event.word), geometry),
                                            place(event.offset))
                              : fmt::format("the processor writes {} bytes at {}",
                                            event.data.size(), place(event.offset)));
      break;
    case sim::EventKind::fault:
      tell(event, "fault", std::string(to_string(static_cast<sim::FaultKind>(event.detail))));
      break;
    case sim::EventKind::host_started:
    case sim::EventKind::host_died:
      tell(event, event.subject == 0 ? "server" : client_hosts(scenario_)[event.subject - 1],
           event.kind == sim::EventKind::host_died ? "dies" : "starts");
      break;
    default: break;
  }
}

std::string to_string(const StoryLine& line) {
  return fmt::format("{:>6}  {:>11.1f} us  {:<22}  {}", line.step,
                     static_cast<double>(line.time_ns) / 1'000, line.who, line.text);
}

}  // namespace falafel::store_scenario
