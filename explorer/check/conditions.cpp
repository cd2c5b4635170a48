#include "explorer/check/conditions.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "processes/child_process.h"

namespace falafel::check {

// Zeroed memory is a valid initial state.
struct Conditions::Entry {
  enum State : std::uint32_t { empty, being_named, named };
  std::atomic<std::uint32_t> state{};
  std::array<char, longest_name_bytes + 1> name{};
  std::atomic<std::uint64_t> count{};
};

Conditions::Conditions() {
  void* memory = mmap(nullptr, sizeof(Entry) * most, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) processes::fail_system_call("mmap");
  entries_ = new (memory) Entry[most]();
}

Conditions::~Conditions() { munmap(entries_, sizeof(Entry) * most); }

std::size_t Conditions::declare(std::string_view name) {
  if (name.empty() || name.size() > longest_name_bytes) {
    throw std::invalid_argument(fmt::format("the condition \"{}\" needs a name of 1 to {} bytes",
                                            name, longest_name_bytes));
  }
  for (std::size_t index = 0; index < most; ++index) {
    Entry& entry = entries_[index];
    std::uint32_t state = Entry::empty;
    if (entry.state.compare_exchange_strong(state, Entry::being_named)) {
      std::memcpy(entry.name.data(), name.data(), name.size());
      entry.state = Entry::named;
      return index;
    }
    while (entry.state != Entry::named) std::this_thread::yield();
    if (name == entry.name.data()) return index;
  }
  throw std::invalid_argument(
      fmt::format("the condition \"{}\" is one too many; declare at most {}", name, most));
}

void Conditions::reached(std::size_t index) { ++entries_[index].count; }

std::map<std::string, std::uint64_t> Conditions::counts() const {
  std::map<std::string, std::uint64_t> counts;
  for (std::size_t index = 0; index < most; ++index) {
    const Entry& entry = entries_[index];
    if (entry.state == Entry::named) counts[entry.name.data()] = entry.count;
  }
  return counts;
}

}  // namespace falafel::check
