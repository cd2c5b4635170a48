#include "explorer/subjects.h"

namespace falafel::explorer {

void Subjects::introduce(const sim::Subject& subject) {
  switch (subject.kind) {
    case sim::SubjectKind::host: hosts_.emplace_back(subject.host); break;
    case sim::SubjectKind::fiber:
      fibers_[subject.number] = {.host = std::string(subject.host),
                                 .name = std::string(subject.name)};
      break;
    case sim::SubjectKind::queue_pair: queue_pairs_[subject.number] = subject.host; break;
    case sim::SubjectKind::memory: introduce_memory(subject); break;
  }
}

// A block that is introduced again outlived its host's process, and the next one keeps it.
void Subjects::introduce_memory(const sim::Subject& subject) {
  const auto known = memory(subject.block);
  if (known && memories_[*known].number == subject.number) {
    memories_[*known].is_lost = false;
    return;
  }
  std::uint32_t& blocks = blocks_of_host_[std::string(subject.host)];
  numbers_[subject.block] = static_cast<std::uint32_t>(memories_.size());
  memories_.push_back(
      {.host = std::string(subject.host), .number = subject.number, .block = blocks++});
}

// A program may keep the blocks of a dead host, and requests in flight may still access them.
void Subjects::observe(const sim::TraceEvent& event) {
  if (event.kind != sim::EventKind::host_died) return;
  const std::string name = host(event.subject);
  for (Memory& memory : memories_) memory.is_lost = memory.is_lost || memory.host == name;
  blocks_of_host_[name] = 0;
}

std::string Subjects::host(std::uint32_t number) const {
  return number < hosts_.size() ? hosts_[number] : std::string();
}

Subjects::Fiber Subjects::fiber(std::uint32_t number) const {
  const auto found = fibers_.find(number);
  return found == fibers_.end() ? Fiber() : found->second;
}

std::string Subjects::host_of_queue_pair(std::uint32_t number) const {
  const auto found = queue_pairs_.find(number);
  return found == queue_pairs_.end() ? std::string() : found->second;
}

std::optional<std::uint32_t> Subjects::memory(const fabric::MemoryBlock* block) const {
  const auto found = numbers_.find(block);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

}  // namespace falafel::explorer
