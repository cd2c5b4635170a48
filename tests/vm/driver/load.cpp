// Clients under load. Each operation is logged before it starts and after it ends, so that the log
// shows which operations were in flight when a process was killed:
//
//   call NUMBER CLIENT KIND KEY VALUE TIME
//   return NUMBER ANSWER VALUE TIME
//
// A value is a unique name padded with dots. The log contains only the name, or "?" for a value of
// another form.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "fabric/text.h"
#include "tests/vm/driver/driver.h"

namespace falafel::driver {
namespace {

using fabric::bytes_of;

using engine::Answer;

class EventLog {
 public:
  explicit EventLog(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    FALAFEL_ASSERT(file_ >= 0, "{} cannot be written", path);
  }
  ~EventLog() { ::close(file_); }
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Unbuffered, so that the log outlives the process.
  template <typename... Arguments>
  void write(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    const std::string line = fmt::format(format, std::forward<Arguments>(arguments)...);
    const ssize_t written = ::write(file_, line.data(), line.size());
    FALAFEL_ASSERT(written == static_cast<ssize_t>(line.size()), "an event cannot be written");
  }
  std::uint64_t next_number() { return ++last_number_; }
  std::uint64_t operations() const { return last_number_; }

 private:
  int file_;
  std::uint64_t last_number_ = 0;
};

std::string name_of(const std::vector<std::byte>& value) {
  const std::string text(reinterpret_cast<const char*>(value.data()), value.size());
  const std::size_t end = text.find('.');
  const bool is_padded =
      end != std::string::npos && text.find_first_not_of('.', end) == std::string::npos;
  return is_padded ? text.substr(0, end) : "?";
}

// One actor of a client, which is a fiber.
class Actor {
 public:
  Actor(fabric::Host& host, const Settings& settings, std::uint32_t number, EventLog& log,
        std::map<Answer, std::uint64_t>& answers)
      : host_(host), settings_(settings), number_(number), log_(log), answers_(answers) {}

  // Runs until the deadline, until all operations of this process have begun, or until the
  // connection breaks.
  void work(engine::Client& client, std::uint64_t deadline_ns) {
    while (host_.now_ns() < deadline_ns && log_.operations() < settings_.operations &&
           client.is_connected()) {
      const std::string key =
          fmt::format("{}{}", settings_.key_prefix, host_.random(settings_.keys));
      const std::uint64_t choice = host_.random(100);
      if (choice < 50) {
        get(client, key);
      } else if (choice < 85) {
        set(client, key);
      } else {
        remove(client, key);
      }
    }
  }

  void get(engine::Client& client, const std::string& key) {
    const std::uint64_t number = call("get", key, "-");
    const engine::GetResult result = client.get(bytes_of(key));
    done(number, result.answer, result.answer == Answer::found ? name_of(result.value) : "-");
  }

 private:
  void set(engine::Client& client, const std::string& key) {
    const std::string name = fmt::format("v{}-{}-{}", settings_.client, number_, ++values_);
    std::string value = name;
    value.resize(std::max<std::size_t>(host_.random(settings_.value_bytes), name.size() + 1), '.');
    const std::uint64_t number = call("set", key, name);
    done(number, client.set(bytes_of(key), bytes_of(value)).answer, "-");
  }

  void remove(engine::Client& client, const std::string& key) {
    const std::uint64_t number = call("delete", key, "-");
    done(number, client.remove(bytes_of(key)).answer, "-");
  }

  std::uint64_t call(std::string_view kind, std::string_view key, std::string_view value) {
    const std::uint64_t number = log_.next_number();
    log_.write("call {} {} {} {} {} {}\n", number, settings_.client, kind, key, value,
               host_.now_ns());
    return number;
  }

  void done(std::uint64_t number, Answer answer, std::string_view value) {
    std::string words(to_string(answer));
    std::replace(words.begin(), words.end(), ' ', '_');
    log_.write("return {} {} {} {}\n", number, words, value, host_.now_ns());
    ++answers_[answer];
  }

  fabric::Host& host_;
  const Settings& settings_;
  std::uint32_t number_;
  EventLog& log_;
  std::map<Answer, std::uint64_t>& answers_;
  std::uint64_t values_ = 0;
};

fabric::Result<std::unique_ptr<engine::Client>> connect(fabric::Host& host,
                                                        const Settings& settings) {
  return engine::Client::connect(host, {.host = settings.server, .service = settings.service},
                                 client_options());
}

int explain(const fabric::Error& error) {
  fmt::print("{}: {}\n", to_string(error.code), error.detail);
  return 2;
}

// Reconnects after failures if configured.
int work(verbs::Host& host, const Settings& settings) {
  EventLog log(settings.events);
  std::map<Answer, std::uint64_t> answers;
  std::vector<std::unique_ptr<Actor>> actors;
  actors.reserve(settings.fibers);
  for (std::uint32_t i = 0; i < settings.fibers; ++i) {
    actors.push_back(std::make_unique<Actor>(host, settings, i, log, answers));
  }
  const std::uint64_t deadline_ns =
      host.now_ns() + static_cast<std::uint64_t>(settings.seconds * static_cast<double>(second_ns));
  while (host.now_ns() < deadline_ns && log.operations() < settings.operations) {
    auto client = connect(host, settings);
    if (!client) {
      if (!settings.reconnects) return explain(client.error());
      host.sleep_until(host.now_ns() + 100 * millisecond_ns);
      continue;
    }
    fmt::print("connected\n");
    std::vector<fabric::FiberId> fibers;
    fibers.reserve(actors.size());
    for (const auto& actor : actors) {
      fibers.push_back(host.spawn({.name = "actor"}, [&actor, &client, deadline_ns] {
        actor->work(**client, deadline_ns);
      }));
    }
    for (const fabric::FiberId fiber : fibers) host.join(fiber);
    if ((*client)->is_connected()) {
      (*client)->disconnect();
    } else {
      fmt::print("disconnected after {} ms\n", (host.now_ns() + 1) / millisecond_ns);
      if (!settings.reconnects) break;
    }
  }
  for (const auto& [answer, count] : answers) fmt::print("{}: {}\n", to_string(answer), count);
  return answers.contains(Answer::corrupted) ? 1 : 0;
}

int read_all(verbs::Host& host, const Settings& settings) {
  EventLog log(settings.events);
  std::map<Answer, std::uint64_t> answers;
  Actor actor(host, settings, 0, log, answers);
  auto client = connect(host, settings);
  if (!client) return explain(client.error());
  for (std::uint32_t key = 0; key < settings.keys; ++key) {
    actor.get(**client, fmt::format("{}{}", settings.key_prefix, key));
  }
  (*client)->disconnect();
  return 0;
}

}  // namespace

int load(const Settings& settings) {
  return run_on_host(settings, [&](verbs::Host& host) { return work(host, settings); });
}

int read_back(const Settings& settings) {
  return run_on_host(settings, [&](verbs::Host& host) { return read_all(host, settings); });
}

}  // namespace falafel::driver
