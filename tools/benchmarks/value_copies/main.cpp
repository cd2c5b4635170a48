// GETs of values of several lengths from a running server, with all ways in which a GET delivers a
// value, in turn: so each round measures them on the same machine at the same time. Reports medians
// of the rounds. The processor time is that of the calling thread, which also executes the READs
// over shared memory. docs/benchmarks.md has the command and figures.
#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "falafel/store.h"

namespace falafel {
namespace {

enum class Form : std::uint8_t {
  result,    // a copy in a vector of its own
  memory,    // a function copies the value into memory of the caller
  function,  // a function gets the value, which then is gone
  buffer,    // a buffer of the caller
};
constexpr std::array forms{Form::result, Form::memory, Form::function, Form::buffer};
constexpr std::array<std::string_view, forms.size()> form_names{"result", "memory", "function",
                                                                "buffer"};

struct Settings {
  StoreOptions store;
  std::vector<std::uint64_t> value_bytes{64, 4'096, 65'536, 1'048'576};
  std::uint64_t rounds = 51;
  std::uint64_t bytes_per_round = 16 << 20;
  std::uint64_t most_gets = 2'000;  // per round and form
  std::string only;                 // a form; empty: all
};

std::uint64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

struct Cost {
  double processor_ns = 0;  // of this thread
  double elapsed_ns = 0;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Values of one length under as many keys as a round needs.
class Values {
 public:
  Values(Store& store, const Settings& settings, std::uint64_t value_bytes)
      : store_(store),
        buffer_(must(
            store.allocate_buffer(engine::ValueBuffer::bytes_for(most_key_bytes, value_bytes)))),
        memory_(value_bytes) {
    const std::uint64_t gets =
        std::clamp<std::uint64_t>(settings.bytes_per_round / value_bytes, 1, settings.most_gets);
    const std::string value(value_bytes, 'v');
    for (std::uint64_t number = 0; number < gets; ++number) {
      keys_.push_back(fmt::format("{} {}", value_bytes, number));
      const auto answer = store_.set(keys_.back(), value).answer;
      if (answer != engine::Answer::stored) {
        throw std::runtime_error(fmt::format("a SET answers '{}'", to_string(answer)));
      }
    }
  }
  ~Values() {
    for (const std::string& key : keys_) store_.remove(key);
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  Cost measure(Form form) {
    const std::uint64_t processor_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    const std::uint64_t elapsed_ns = now_ns(CLOCK_MONOTONIC);
    const std::size_t found = get_all(form);
    const auto count = static_cast<double>(keys_.size());
    if (found != keys_.size()) throw std::runtime_error("a key was not found as it was stored");
    return {
        .processor_ns = static_cast<double>(now_ns(CLOCK_THREAD_CPUTIME_ID) - processor_ns) / count,
        .elapsed_ns = static_cast<double>(now_ns(CLOCK_MONOTONIC) - elapsed_ns) / count};
  }

 private:
  static constexpr std::uint64_t most_key_bytes = 64;

  static engine::ValueBuffer must(fabric::Result<engine::ValueBuffer> buffer) {
    if (!buffer) throw std::runtime_error(buffer.error().detail);
    return std::move(*buffer);
  }

  bool is_right(std::span<const std::byte> value) const {
    return value.size() == memory_.size() && value.back() == std::byte{'v'};
  }

  // Calls get(key) for each key, and returns how many values were right.
  template <typename Get>
  [[gnu::noinline]] std::size_t measured_gets(const Get& get) {
    std::size_t found = 0;
    for (const std::string& key : keys_) found += get(key) ? 1U : 0U;
    return found;
  }

  std::size_t get_all(Form form) {
    switch (form) {
      case Form::result:
        return measured_gets(
            [this](std::string_view key) { return is_right(store_.get(key).value); });
      case Form::memory:
        return measured_gets([this](std::string_view key) {
          store_.get(key, [this](std::span<const std::byte> value) {
            std::memcpy(memory_.data(), value.data(), std::min(value.size(), memory_.size()));
          });
          return is_right(memory_);
        });
      case Form::function:
        return measured_gets([this](std::string_view key) {
          bool right = false;
          store_.get(key, [&](std::span<const std::byte> value) { right = is_right(value); });
          return right;
        });
      case Form::buffer:
        return measured_gets([this](std::string_view key) {
          const engine::GetResult result = store_.get(key, buffer_);
          return result.place && is_right(buffer_.value_at(*result.place));
        });
    }
    return 0;
  }

  Store& store_;
  engine::ValueBuffer buffer_;
  std::vector<std::byte> memory_;
  std::vector<std::string> keys_;
};

void measure(Store& store, const Settings& settings, std::uint64_t value_bytes) {
  Values values(store, settings, value_bytes);
  std::array<std::vector<double>, forms.size()> processor_ns;
  std::array<std::vector<double>, forms.size()> elapsed_ns;
  for (std::uint64_t round = 0; round < settings.rounds; ++round) {
    for (std::size_t turn = 0; turn < forms.size(); ++turn) {
      const std::size_t index = (round + turn) % forms.size();  // no way is always the first
      if (!settings.only.empty() && settings.only != form_names[index]) continue;
      const Cost cost = values.measure(forms[index]);
      processor_ns[index].push_back(cost.processor_ns);
      elapsed_ns[index].push_back(cost.elapsed_ns);
    }
  }
  for (std::size_t index = 0; index < forms.size(); ++index) {
    if (processor_ns[index].empty()) continue;
    fmt::print("{:>8} bytes  {:<8}  processor {:>10.0f} ns  elapsed {:>10.0f} ns\n", value_bytes,
               form_names[index], median(processor_ns[index]), median(elapsed_ns[index]));
  }
}

int run(const Settings& settings) {
  const auto store = Store::open(settings.store);
  if (!store) {
    fmt::print(stderr, "{}\n", store.error().detail);
    return EXIT_FAILURE;
  }
  for (const std::uint64_t value_bytes : settings.value_bytes) {
    measure(**store, settings, value_bytes);
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace falafel

int main(int count, char** words) {
  falafel::Settings settings;
  CLI::App app("Compares the ways in which a GET delivers a value, with a running server.");
  app.add_option("--server", settings.store.server, "name of the server")->capture_default_str();
  app.add_option("--fabric", settings.store.fabric.fabric, "shm or verbs")->capture_default_str();
  app.add_option("--directory", settings.store.fabric.directory, "of the server's socket (shm)");
  app.add_option("--own-address", settings.store.fabric.own_address, "of this machine (verbs)");
  app.add_option("--value-bytes", settings.value_bytes, "lengths of the values")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30U))
      ->capture_default_str();
  app.add_option("--rounds", settings.rounds, "rounds of all ways in turn")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--bytes-per-round", settings.bytes_per_round, "bytes of values in a round")
      ->capture_default_str();
  app.add_option("--only", settings.only, "one way instead of all")
      ->check(CLI::IsMember(falafel::form_names));
  CLI11_PARSE(app, count, words);
  try {
    return falafel::run(settings);
  } catch (const std::runtime_error& problem) {
    fmt::print(stderr, "{}\n", problem.what());
    return EXIT_FAILURE;
  }
}
