#include "simulated_verbs/subnet.h"

#include <algorithm>

#include "fabric/assert.h"

namespace falafel::simulated_verbs {

std::uint16_t Subnet::add_host(std::string name) {
  hosts_.push_back(std::move(name));
  return static_cast<std::uint16_t>(hosts_.size());
}

std::optional<std::uint16_t> Subnet::find(std::string_view host_name) const {
  const auto found = std::ranges::find(hosts_, host_name);
  if (found == hosts_.end()) return std::nullopt;
  return static_cast<std::uint16_t>(found - hosts_.begin() + 1);
}

std::uint16_t Subnet::lid_of(std::string_view host_name) const {
  const std::optional<std::uint16_t> lid = find(host_name);
  FALAFEL_ASSERT(lid.has_value(), "host {} was not added to the subnet", host_name);
  return *lid;
}

const std::string* Subnet::host_of(std::uint16_t lid) const {
  return lid == 0 || lid > hosts_.size() ? nullptr : &hosts_[lid - 1U];
}

ProgramHeap& Subnet::add_heap(std::uint16_t lid) {
  const std::uint32_t process = processes_[lid]++;
  FALAFEL_ASSERT(process < most_processes_of_host, "host {} has started {} times", hosts_[lid - 1U],
                 process);
  heaps_.push_back(std::make_unique<ProgramHeap>((lid - 1U) * most_processes_of_host + process,
                                                 has_shared_heaps_));
  return *heaps_.back();
}

void Subnet::add(std::uint16_t lid, std::uint32_t number, QueuePair& queue_pair) {
  const bool is_new = queue_pairs_.emplace(std::pair(lid, number), &queue_pair).second;
  FALAFEL_ASSERT(is_new, "queue pair {} of LID {} exists twice", number, lid);
}

QueuePair* Subnet::find(std::uint16_t lid, std::uint32_t number) const {
  const auto found = queue_pairs_.find({lid, number});
  return found == queue_pairs_.end() ? nullptr : found->second;
}

void Subnet::note_number(std::uint32_t in_fabric, std::uint32_t of_program) {
  numbers_.emplace(in_fabric, of_program);
}

std::uint32_t Subnet::number_of_program(std::uint32_t in_fabric) const {
  const auto found = numbers_.find(in_fabric);
  FALAFEL_ASSERT(found != numbers_.end(), "queue pair {} of the fabric belongs to no program",
                 in_fabric);
  return found->second;
}

void Subnet::note_window(std::uint32_t number, std::uint32_t key, std::uint64_t base) {
  keys_of_windows_[number] = key;
  numbers_of_windows_[key] = number;
  note_region(key, base);
}

std::uint32_t Subnet::number_of_window(std::uint32_t key) const {
  const auto found = numbers_of_windows_.find(key);
  FALAFEL_ASSERT(found != numbers_of_windows_.end(), "key {} belongs to no window", key);
  return found->second;
}

fabric::MemoryAddress Subnet::locate(std::uint32_t key, std::uint64_t address) const {
  if (const auto window = keys_of_windows_.find(key); window != keys_of_windows_.end()) {
    key = window->second;
  }
  const auto found = bases_.find(key);
  return {key, found == bases_.end() ? 0 : address - found->second};
}

}  // namespace falafel::simulated_verbs
