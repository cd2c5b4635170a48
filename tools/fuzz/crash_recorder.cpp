#include "tools/fuzz/crash_recorder.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <span>
#include <system_error>

#include "tools/fuzz/campaign.h"
#include "tools/fuzz/run.h"
#include "tools/fuzz/worker.h"

namespace falafel::fuzz {
namespace {

constexpr std::size_t most_choices = std::size_t{1} << 22;

// Zeroed memory is its start.
struct SharedChoices {
  std::atomic<std::size_t> count;
  std::atomic<bool> has_ended;
  std::array<sim::Choice, most_choices> choices;
};

class SharedRecording final : public sim::Strategy {
 public:
  SharedRecording(sim::Strategy& inner, SharedChoices& shared) : inner_(inner), shared_(shared) {}

  std::uint64_t choose(const sim::ChoicePoint& point) override {
    return keep(point, point.bound, inner_.choose(point));
  }
  std::uint64_t schedule(const sim::ChoicePoint& point,
                         std::span<const sim::ActorId> actors) override {
    return keep(point, actors.size(), inner_.schedule(point, actors));
  }

 private:
  std::uint64_t keep(const sim::ChoicePoint& point, std::uint64_t bound, std::uint64_t value) {
    const std::size_t count = shared_.count;
    if (count < most_choices) {
      shared_.choices[count] = {.kind = point.kind,
                                .bound = bound,
                                .value = value,
                                .checkpoint = sim::checkpoint_of(point)};
      shared_.count = count + 1;
    }
    return value;
  }

  sim::Strategy& inner_;
  SharedChoices& shared_;
};

[[noreturn]] void run_in_child(const Scenario& scenario, std::uint64_t seed,
                               SharedChoices& shared) {
  const auto strategy = make_seeded_strategy(scenario, seed);
  SharedRecording recording(*strategy, shared);
  Runner().run(scenario, recording);
  shared.has_ended = true;
  _exit(0);
}

void wait_for(pid_t child, double seconds) {
  constexpr useconds_t interval_us = 10'000;
  const double end = now_seconds() + seconds;
  while (waitpid(child, nullptr, WNOHANG) == 0) {
    if (now_seconds() > end) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      return;
    }
    usleep(interval_us);
  }
}

}  // namespace

std::vector<sim::Choice> record_crash(const Scenario& scenario, std::uint64_t seed,
                                      double seconds) {
  void* memory = mmap(nullptr, sizeof(SharedChoices), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  const std::unique_ptr<void, void (*)(void*)> unmap(
      memory, [](void* mapped) { munmap(mapped, sizeof(SharedChoices)); });
  auto& shared = *static_cast<SharedChoices*>(memory);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) run_in_child(scenario, seed, shared);
  wait_for(child, seconds);
  if (shared.has_ended) return {};
  return {shared.choices.begin(),
          shared.choices.begin() + static_cast<std::ptrdiff_t>(shared.count.load())};
}

}  // namespace falafel::fuzz
