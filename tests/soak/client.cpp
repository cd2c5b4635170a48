// A client of the soak (soak.py). It works on keys that others use too. It writes each call to its
// history before it makes it, and each answer when it has it, so a client that is killed leaves its
// unanswered calls behind. history.py reads these lines:
//
//   c NUMBER TIME KIND KEY VALUE    a call; KIND is get, set or delete; VALUE is "-" but for a set
//   r NUMBER TIME ANSWER VALUE      its answer; VALUE is "-" if nothing was found
//
// Times are those of the monotonic clock, which all processes of a machine share.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/client/results.h"
#include "engine/placement/placement.h"
#include "falafel/cluster.h"
#include "falafel/store.h"

namespace falafel {
namespace {

using engine::Answer;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t server_timeout_ns = 1'000'000'000;

struct Options {
  std::string etcd{};
  std::string server{};
  std::vector<std::string> owners_of{};
  std::string history = "/dev/null";
  std::string task = "work";
  std::string prefix = "key";
  std::uint32_t number = 0;
  std::uint64_t keys = 100;
  std::uint32_t operations_per_second = 200;
  std::uint32_t sets_percent = 30;
  std::size_t least_bytes = 16;
  std::size_t most_bytes = 4096;
};

std::atomic<bool> must_stop = false;  // set by a signal
static_assert(std::atomic<bool>::is_always_lock_free);

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
          .count());
}

std::string key_of(const Options& options, std::uint64_t index) {
  return fmt::format("{}-{}", options.prefix, index);
}

// A value is its token again and again, so that bytes of another value are noticed. The token also
// decides its length.
std::string value_of(const Options& options, std::string_view token) {
  std::uint64_t hash = 1469598103934665603U;
  for (const char character : token) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211U;
  }
  const std::size_t bytes =
      options.least_bytes + hash % (options.most_bytes - options.least_bytes + 1);
  std::string value;
  value.reserve(bytes + token.size() + 1);
  while (value.size() < bytes) value.append(token).append(1, '|');
  value.resize(bytes);
  return value;
}

// The token of the value, or "garbled" if nobody has written this value.
std::string token_of(const Options& options, std::string_view value) {
  const std::string token(value.substr(0, value.find('|')));
  return value == value_of(options, token) ? token : "garbled";
}

class History {
 public:
  explicit History(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), path);
  }
  ~History() { ::close(file_); }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // The number of the first of these calls.
  std::uint64_t call(std::string_view kind, const std::vector<std::string>& keys,
                     const std::vector<std::string>& tokens) {
    const std::uint64_t first = next_;
    const std::uint64_t time_ns = now_ns();
    std::string lines;
    for (std::size_t index = 0; index < keys.size(); ++index) {
      lines += fmt::format("c {} {} {} {} {}\n", next_++, time_ns, kind, keys[index],
                           tokens.empty() ? "-" : tokens[index]);
    }
    write(lines);
    return first;
  }

  struct Ended {
    Answer answer;
    std::string token = "-";
  };
  void answer(std::uint64_t first, const std::vector<Ended>& ended) {
    const std::uint64_t time_ns = now_ns();
    std::string lines;
    for (const Ended& one : ended) {
      lines += fmt::format("r {} {} {} {}\n", first++, time_ns, word_of(one.answer), one.token);
    }
    write(lines);
  }

 private:
  static std::string word_of(Answer answer) {
    std::string word(engine::to_string(answer));
    for (char& character : word) {
      if (character == ' ') character = '_';
    }
    return word;
  }

  void write(std::string_view lines) const {
    while (!lines.empty()) {
      const ssize_t written = ::write(file_, lines.data(), lines.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw std::system_error(errno, std::generic_category(), "the history");
      lines.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  int file_;
  std::uint64_t next_ = 0;
};

// `Target` is a Store or a Cluster.
template <typename Target>
class Worker {
 public:
  Worker(const Options& options, Target& target)
      : options_(options), target_(target), history_(options.history), random_(options.number) {}

  // Until a signal ends it.
  void work() {
    const std::chrono::nanoseconds pause(1'000'000'000 / options_.operations_per_second);
    while (!must_stop) {
      const std::size_t count = random_() % 16 == 0 ? 8 : 1;
      operate(draw_kind(), draw_keys(count));
      std::this_thread::sleep_for(pause * count);
    }
  }

  // GETs or deletes each key once, or stores each until the memory is full; returns how many
  // succeeded.
  std::uint64_t go_through(std::string_view kind) {
    std::uint64_t succeeded = 0;
    for (std::uint64_t index = 0; index < options_.keys && !must_stop; ++index) {
      const Answer answer = operate(kind, {key_of(options_, index)});
      if (answer == Answer::out_of_memory) break;
      succeeded += answer == Answer::found || answer == Answer::stored || answer == Answer::deleted;
    }
    return succeeded;
  }

 private:
  std::string_view draw_kind() {
    const std::uint64_t percent = random_() % 100;
    if (percent < options_.sets_percent) return "set";
    return percent < options_.sets_percent + 6 ? "delete" : "get";
  }

  // Different ones.
  std::vector<std::string> draw_keys(std::size_t count) {
    std::vector<std::string> keys;
    const std::uint64_t first = random_() % options_.keys;
    for (std::size_t index = 0; index < count; ++index) {
      keys.push_back(key_of(options_, (first + index) % options_.keys));
    }
    return keys;
  }

  // The answer of the last operation.
  Answer operate(std::string_view kind, const std::vector<std::string>& keys) {
    std::vector<std::string> tokens;
    if (kind == "set") {
      for (std::size_t index = 0; index < keys.size(); ++index) {
        tokens.push_back(fmt::format("{}.{}", options_.number, ++written_));
      }
    }
    const std::uint64_t first = history_.call(kind, keys, tokens);
    const std::vector<History::Ended> ended = ask(kind, keys, tokens);
    history_.answer(first, ended);
    return ended.back().answer;
  }

  std::vector<History::Ended> ask(std::string_view kind, const std::vector<std::string>& keys,
                                  const std::vector<std::string>& tokens) {
    const std::vector<std::string_view> names(keys.begin(), keys.end());
    if (kind == "set") return set(names, tokens);
    if (kind == "delete") return remove(names);
    return get(names);
  }

  std::vector<History::Ended> get(const std::vector<std::string_view>& keys) {
    std::vector<engine::GetResult> results;
    if (keys.size() == 1) {
      results.push_back(target_.get(keys[0]));
    } else {
      results = target_.get_many(keys);
    }
    std::vector<History::Ended> ended;
    for (const engine::GetResult& result : results) {
      const bool is_found = result.answer == Answer::found;
      ended.push_back({result.answer, is_found ? token_of(options_, text_of(result.value)) : "-"});
    }
    return ended;
  }

  std::vector<History::Ended> set(const std::vector<std::string_view>& keys,
                                  const std::vector<std::string>& tokens) {
    std::vector<std::string> values;
    values.reserve(tokens.size());
    for (const std::string& token : tokens) values.push_back(value_of(options_, token));
    if (keys.size() == 1) return {{target_.set(keys[0], values[0]).answer}};
    std::vector<typename Target::KeyAndValue> pairs;
    for (std::size_t index = 0; index < keys.size(); ++index) {
      pairs.emplace_back(keys[index], values[index]);
    }
    return answers_of(target_.set_many(pairs));
  }

  std::vector<History::Ended> remove(const std::vector<std::string_view>& keys) {
    if (keys.size() == 1) return {{target_.remove(keys[0]).answer}};
    return answers_of(target_.remove_many(keys));
  }

  template <typename Result>
  static std::vector<History::Ended> answers_of(const std::vector<Result>& results) {
    std::vector<History::Ended> ended;
    ended.reserve(results.size());
    for (const Result& result : results) ended.push_back({result.answer});
    return ended;
  }

  const Options& options_;
  Target& target_;
  History history_;
  std::mt19937_64 random_;
  std::uint64_t written_ = 0;
};

// Tries again until it is connected or a signal ends it, because its server may be stopped.
template <typename Target, typename TargetOptions>
std::unique_ptr<Target> connect(const TargetOptions& options) {
  while (!must_stop) {
    auto target = Target::open(options);
    if (target) return std::move(*target);
    fmt::print(stderr, "{}\n", target.error().detail);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return nullptr;
}

template <typename Target, typename TargetOptions>
void run(const Options& options, const TargetOptions& target_options) {
  const std::unique_ptr<Target> target = connect<Target>(target_options);
  if (target == nullptr) return;
  Worker<Target> worker(options, *target);
  fmt::print("working\n");
  std::fflush(stdout);
  if (options.task == "work") {
    worker.work();
  } else {
    fmt::print("{}\n", worker.go_through(options.task));
  }
}

void print_owners(const Options& options) {
  const engine::Placement placement({.servers = options.owners_of});
  for (std::uint64_t index = 0; index < options.keys; ++index) {
    const std::string key = key_of(options, index);
    fmt::print("{} {}\n", key, placement.current_server_of(bytes_of(key)));
  }
}

void run(const Options& options) {
  if (!options.owners_of.empty()) return print_owners(options);
  StoreOptions store{.server = options.server, .fabric = {}};
  store.server_timeout_ns = server_timeout_ns;
  store.reconnect_interval_ns = 20'000'000;
  if (options.etcd.empty()) return run<Store>(options, store);
  run<Cluster>(options, ClusterOptions{.etcd = {options.etcd}, .store = store});
}

void stop(int /*signal*/) { must_stop = true; }

int parse_and_run(int argument_count, char** arguments) {
  Options options;
  CLI::App app("A client of the soak");
  app.add_option("--etcd", options.etcd, "endpoint of etcd with the list of servers");
  app.add_option("--server", options.server, "name of the only server");
  app.add_option("--owners-of", options.owners_of, "only print which of these has each key")
      ->delimiter(',');
  app.add_option("--history", options.history, "file for calls and answers");
  app.add_option("--task", options.task, "work until a signal; or get, delete or set each key once")
      ->check(CLI::IsMember({"work", "get", "set", "delete"}));
  app.add_option("--prefix", options.prefix, "of all keys");
  app.add_option("--number", options.number, "of this client, which no other has");
  app.add_option("--keys", options.keys, "number of keys");
  app.add_option("--operations-per-second", options.operations_per_second, "at most");
  app.add_option("--sets-percent", options.sets_percent, "share of SETs");
  app.add_option("--least-bytes", options.least_bytes, "of a value");
  app.add_option("--most-bytes", options.most_bytes, "of a value");
  CLI11_PARSE(app, argument_count, arguments);
  struct sigaction action {};
  action.sa_handler = stop;
  sigaction(SIGTERM, &action, nullptr);
  run(options);
  return 0;
}

}  // namespace
}  // namespace falafel

int main(int argument_count, char** arguments) {
  try {
    return falafel::parse_and_run(argument_count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "store_soak_client: {}\n", error.what());
    return 2;
  }
}
