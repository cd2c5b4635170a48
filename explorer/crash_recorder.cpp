#include "explorer/crash_recorder.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>

#include "explorer/crash_stack.h"
#include "fabric/fiber_stack.h"
#include "processes/child_process.h"

namespace falafel::explorer {
namespace {

constexpr std::size_t most_choices = std::size_t{1} << 22;
constexpr std::size_t longest_message_bytes = 4'096;

// Starts as zeroed memory.
struct SharedChoices {
  std::atomic<std::size_t> count;
  std::atomic<std::uint64_t> steps;
  std::atomic<bool> has_ended;
  std::array<const void*, most_stack_frames> frames;  // of a crash, up to the first null
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
  sim::StepObserver* step_observer() override { return inner_.step_observer(); }

 private:
  std::uint64_t keep(const sim::ChoicePoint& point, std::uint64_t bound, std::uint64_t value) {
    const std::size_t count = shared_.count;
    if (count < most_choices) {
      shared_.choices[count] = {.kind = point.kind,
                                .bound = bound,
                                .value = value,
                                .checkpoint = sim::checkpoint_of(point)};
      shared_.count = count + 1;
      shared_.steps = point.step;
    }
    return value;
  }

  sim::Strategy& inner_;
  SharedChoices& shared_;
};

// Collects the standard error of a process in memory.
class Messages {
 public:
  Messages() : file_(memfd_create("messages", MFD_CLOEXEC)) {
    if (file_ < 0) processes::fail_system_call("memfd_create");
  }
  ~Messages() { close(file_); }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  void take_standard_error() const { dup2(file_, STDERR_FILENO); }
  std::string text() const {
    std::string text(longest_message_bytes, '\0');
    const ssize_t length = pread(file_, text.data(), text.size(), 0);
    text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    return text;
  }

 private:
  int file_;
};

void run_in_child(const Program& program, const Scenario& scenario, sim::Strategy& strategy,
                  SharedChoices& shared, const Messages& messages) {
  messages.take_standard_error();
  const fabric::StackOverflowReport stack_overflow_report;
  const CrashStack crash_stack(shared.frames);
  SharedRecording recording(strategy, shared);
  program.create_runner()->run(scenario, recording);
  shared.has_ended = true;
}

// An assertion's message begins with its location ("file:line: assertion failed: "). A sanitizer's
// report contains addresses that vary, so only the status identifies it.
std::string fingerprint_of(const std::string& message, const processes::Ending& ending) {
  const std::size_t end = message.find(": assertion failed: ");
  if (end != std::string::npos) {
    const std::size_t begin = message.rfind('\n', end);
    return message.substr(begin == std::string::npos ? 0 : begin + 1, end - begin - 1);
  }
  if (const auto signal = ending.signal()) return fmt::format("signal {}", *signal);
  return fmt::format("exit status {}", ending.exit_status().value_or(0));
}

}  // namespace

std::optional<RecordedCrash> record_crash(const Program& program, const Scenario& scenario,
                                          sim::Strategy& strategy, double seconds) {
  void* memory = mmap(nullptr, sizeof(SharedChoices), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) processes::fail_system_call("mmap");
  const std::unique_ptr<void, void (*)(void*)> unmap(
      memory, [](void* mapped) { munmap(mapped, sizeof(SharedChoices)); });
  auto& shared = *static_cast<SharedChoices*>(memory);
  const Messages messages;
  processes::ChildProcess child([&] {
    run_in_child(program, scenario, strategy, shared, messages);
    return 0;
  });
  const auto ending = child.wait_for(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds)));
  if (!ending) {
    child.kill();
    child.wait();
  }
  if (shared.has_ended) return std::nullopt;

  RecordedCrash crash;
  crash.choices = {shared.choices.begin(),
                   shared.choices.begin() + static_cast<std::ptrdiff_t>(shared.count.load())};
  crash.steps = shared.steps;
  if (ending) {
    const std::string message = messages.text();
    crash.property = crash_property;
    crash.fingerprint = fingerprint_of(message, *ending);
    crash.explanation = fmt::format("{}\n{}", crash.fingerprint, message);
    crash.stack.assign(shared.frames.begin(), std::ranges::find(shared.frames, nullptr));
  } else {
    crash.property = hang_property;
    crash.fingerprint = "hang";
    crash.explanation = fmt::format("the run did not end within {} s", seconds);
  }
  return crash;
}

}  // namespace falafel::explorer
