#include "tools/command_line/acceptance/recorded_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "checkers/linearizability.h"
#include "engine/client/client.h"
#include "fabric/text.h"
#include "tools/benchmarks/store/record.h"
#include "tools/command_line/acceptance/peer.h"

namespace falafel::acceptance {
namespace {

using checkers::Answer;
using checkers::OperationKind;

constexpr std::size_t least_value_bytes = 16;
constexpr std::size_t most_value_bytes = 1'500;

std::string key_of(std::uint64_t round, std::uint32_t key) {
  return fmt::format("{}-{}", round, key);
}

// The answer as checkers know it: one that changes nothing and tells nothing is a refusal.
Answer answer_of(engine::Answer answer) {
  switch (answer) {
    case engine::Answer::found: return Answer::found;
    case engine::Answer::not_found: return Answer::not_found;
    case engine::Answer::stored: return Answer::stored;
    case engine::Answer::deleted: return Answer::deleted;
    case engine::Answer::unknown_outcome: return Answer::indeterminate;
    default: return Answer::refused;
  }
}

class RecordedClient {
 public:
  RecordedClient(fabric::Host& host, const LoadPlace& place, Log& log)
      : host_(host), place_(place), log_(log) {}

  std::string connect() {
    engine::ClientOptions options;
    options.connect_timeout_ns = patience_ns;
    auto client =
        engine::Client::connect(host_, {.host = place_.server, .service = store_service}, options);
    if (!client) return client.error().detail;
    client_ = std::move(*client);
    log_.is_connected = true;
    return {};
  }

  void work() {
    const std::uint64_t deadline_ns = host_.now_ns() + place_.duration_ns;
    std::vector<fabric::FiberId> fibers;
    for (std::uint32_t fiber = 0; fiber < place_.fibers; ++fiber) {
      fibers.push_back(host_.spawn({.name = "load"}, [&] {
        while (host_.now_ns() < deadline_ns && goes_on()) operate_at_random();
      }));
    }
    for (const fabric::FiberId fiber : fibers) host_.join(fiber);
    end();
  }

  void read_all() {
    for (std::uint32_t key = 0; key < place_.keys && goes_on(); ++key) get(key);
    for (std::uint32_t key = 0; key < place_.keys && goes_on(); ++key) remove(key);
    end();
  }

 private:
  bool goes_on() const { return log_.size < place_.most_operations && client_->is_connected(); }

  void end() {
    log_.has_lost = !client_->is_connected();
    log_.end_ns = host_.now_ns();
    if (client_->is_connected()) client_->disconnect();
  }

  void operate_at_random() {
    const auto key = static_cast<std::uint32_t>(host_.random(place_.keys));
    const std::uint64_t choice = host_.random(100);
    if (choice < 50) {
      get(key);
    } else if (choice < 85) {
      set(key);
    } else {
      remove(key);
    }
  }

  Record& call(OperationKind kind, std::uint32_t key, std::uint64_t value) {
    const std::uint32_t number = log_.size;
    Record& record = log_.records.at(number);
    record.kind = kind;
    record.key = key;
    record.value = value;
    record.call_ns = host_.now_ns();
    log_.size = number + 1;
    return record;
  }

  void complete(Record& record, engine::Answer answer) {
    record.answer = answer_of(answer);
    record.return_ns = host_.now_ns();
    record.has_returned = true;
    if (answer == engine::Answer::corrupted) ++log_.corrupted;
  }

  void get(std::uint32_t key) {
    Record& record = call(OperationKind::get, key, 0);
    const std::string name = key_of(place_.round, key);
    const engine::GetResult result = client_->get(fabric::bytes_of(name));
    if (result.answer == engine::Answer::found) {
      record.value = garbled;
      if (store_benchmark::is_value_of(key, result.value) && result.value.size() >= 8)
        std::memcpy(&record.value, result.value.data(), sizeof record.value);
    }
    complete(record, result.answer);
  }

  void set(std::uint32_t key) {
    const std::uint64_t number = (std::uint64_t{place_.client} + 1) << 32U | ++values_;
    Record& record = call(OperationKind::set, key, number);
    std::vector<std::byte> value(least_value_bytes +
                                 host_.random(most_value_bytes - least_value_bytes));
    store_benchmark::write_value(key, number, value);
    const std::string name = key_of(place_.round, key);
    complete(record, client_->set(fabric::bytes_of(name), value).answer);
  }

  void remove(std::uint32_t key) {
    Record& record = call(OperationKind::remove, key, 0);
    const std::string name = key_of(place_.round, key);
    complete(record, client_->remove(fabric::bytes_of(name)).answer);
  }

  fabric::Host& host_;
  const LoadPlace& place_;
  Log& log_;
  std::unique_ptr<engine::Client> client_;
  std::uint32_t values_ = 0;
};

}  // namespace

std::string run_recorded_client(fabric::Host& host, const LoadPlace& place, Log& log) {
  RecordedClient client(host, place, log);
  std::string problem = client.connect();
  if (problem.empty()) client.work();
  return problem;
}

std::string read_back(fabric::Host& host, const LoadPlace& place, Log& log) {
  RecordedClient client(host, place, log);
  std::string problem = client.connect();
  if (problem.empty()) client.read_all();
  return problem;
}

std::vector<checkers::Operation> history_of(std::span<const Log* const> logs) {
  std::vector<checkers::Operation> history;
  for (std::uint32_t client = 0; client < logs.size(); ++client) {
    const Log& log = *logs[client];
    for (std::uint32_t number = 0; number < log.size; ++number) {
      const Record& record = log.records[number];
      checkers::Operation operation{.client = client,
                                    .kind = record.kind,
                                    .key = std::to_string(record.key),
                                    .call_time = record.call_ns};
      if (record.has_returned) {
        operation.answer = record.answer;
        operation.return_time = record.return_ns;
      }
      if (record.kind == OperationKind::set || operation.answer == Answer::found)
        operation.value = record.value == garbled ? "a value that nobody wrote"
                                                  : fmt::format("{:x}", record.value);
      history.push_back(std::move(operation));
    }
  }
  return history;
}

checkers::Judgement judge(std::span<const Log* const> logs) {
  std::uint64_t corrupted = 0;
  for (const Log* const log : logs) corrupted += log->corrupted;
  if (corrupted > 0) {
    return {.verdict = checkers::Verdict::violated,
            .property = "linearizability",
            .explanation = fmt::format("{} answers were 'corrupted'", corrupted)};
  }
  return checkers::check_linearizability(history_of(logs), checkers::Model::key_value_register);
}

}  // namespace falafel::acceptance
